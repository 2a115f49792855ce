select
    evaluation,
    model,
    protocol,
    resolution,
    variant,
    status,
    any_value(score is not null) as is_scored,
    count(*) as n_attempts,
    count(*) / sum(count(*)) over (partition by evaluation) as share,
    count(*) filter (status_lenient = 'ok') as n_ok_lenient
from {{ ref('cme_scores') }}
semi join (from {{ ref('cme_problems') }} where published) using (problem_id)
group by evaluation, model, protocol, resolution, variant, status
order by evaluation, n_attempts desc, status
