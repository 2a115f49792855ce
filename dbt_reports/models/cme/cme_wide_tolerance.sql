select
    evaluation,
    model,
    protocol,
    resolution,
    variant,
    category,
    count(score_wide) as n_scored,
    {{ exact_mean('score') }} as score,
    {{ exact_mean('score_wide') }} as score_wide
from {{ ref('cme_problem_scores') }}
where score_wide is not null
group by all
order by evaluation, category
