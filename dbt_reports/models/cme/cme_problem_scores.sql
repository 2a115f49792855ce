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
    published,
    count(score) as n_scored_repeats,
    {{ exact_mean('score') }} as score,
    {{ exact_mean('score_lenient') }} as score_lenient,
    {{ exact_mean('score_wide') }} as score_wide
from {{ ref('cme_scores') }}
inner join (select problem_id, published from {{ ref('cme_problems') }}) using (problem_id)
group by all
order by evaluation, category, level
