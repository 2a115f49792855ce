{#- The published set has 49 questions and 138 properties. -#}
with
runs as (
    select
        *,
        runnable_functions / 49 as runnable_rate,
        passed_tasks / 138 as task_success_rate
    from {{ ref('published_tool_usage_runs') }}
),

rows as (
    select
        published_system,
        published_model,
        retrieval_source,
        cast(count(*) as integer) as n_runs,
        avg(runnable_rate) as runnable_rate,
        stddev_pop(runnable_rate) as runnable_sd,
        avg(task_success_rate) as task_success_rate,
        stddev_pop(task_success_rate) as task_success_sd,
        any_value(source) as source
    from runs
    group by published_system, published_model, retrieval_source
    union all
    select published_system, published_model, null, null, runnable_rate, null, task_success_rate, null, source
    from {{ ref('published_tool_usage_figures') }}
)

select
    systems.system,
    models.model,
    rows.*
from rows
inner join {{ ref('published_tool_systems') }} as systems
    on systems.published_system = rows.published_system
    and systems.retrieval_source is not distinct from rows.retrieval_source
inner join {{ ref('published_tool_models') }} as models using (published_model)
order by system, model
