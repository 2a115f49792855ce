select
    published.published_system,
    published.published_model,
    published.retrieval_source,
    published.n_runs as published_runs,
    published.runnable_rate as published_runnable_rate,
    published.runnable_sd as published_runnable_sd,
    published.task_success_rate as published_task_success_rate,
    published.task_success_sd as published_task_success_sd,
    published.source,
    ours.evaluation,
    ours.origin,
    ours.repeats,
    ours.coverage,
    ours.runnable_rate,
    ours.task_success_rate,
    ours.ci_low,
    ours.ci_high,
    -- Rates over other questions are not to be subtracted.
    case when ours.coverage = 1 then ours.runnable_rate - published.runnable_rate end as runnable_difference,
    case when ours.coverage = 1 then ours.task_success_rate - published.task_success_rate end as task_success_difference,
    ours.documents,
    ours.embedder
from {{ ref('mattools_published_tool_usage') }} as published
left join {{ ref('mattools_tool_usage') }} as ours
    on ours.system = published.system
    and ours.model in (published.model, published.published_model)
    and ours.question_set = 'published'
    and ours.mode = 'paper'
order by published.task_success_rate desc, published.published_system, published.published_model, ours.origin
