select
    evaluation,
    model,
    protocol,
    resolution,
    variant,
    problem_id,
    category,
    domain,
    tier,
    level,
    count(score) as n_scored_repeats,
    {{ exact_mean('score') }} as score,
    {{ exact_mean('score_lenient') }} as score_lenient,
    {{ exact_mean('score_wide') }} as score_wide
from {{ ref('cme_scores') }}
group by all
order by evaluation, category, level
