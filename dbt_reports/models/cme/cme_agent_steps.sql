{%- set step = 'struct(number bigint, stage varchar, status varchar, request_hash varchar, message varchar, '
    ~ 'reasoning varchar, script varchar, output varchar, wall_s double, cpu_s double, peak_memory bigint, '
    ~ 'prompt_tokens bigint, completion_tokens bigint, cost_usd double, latency_s double)[]' -%}
{%- set columns = {
    'model': 'varchar', 'protocol': 'varchar', 'variant': 'varchar', 'resolution': 'integer',
    'problem_id': 'varchar', 'steps': step,
} -%}
{%- do source('lake', 'code_runs') -%}
{%- do source('lake', 'react_runs') -%}
with runs as (
    {{ lake_rows('code_runs', columns) }}
    union all
    {{ lake_rows('react_runs', columns) }}
),

steps as (
    select model, protocol, variant, resolution, unnest(steps) as step
    from runs
    -- A run whose problem is known from nowhere else counts: only categories of one's own stay out.
    anti join (from {{ ref('cme_problems') }} where not published) using (problem_id)
),

endings as (
    select
        concat_ws('/', model, protocol, resolution, nullif(variant, 'published')) as evaluation,
        model,
        protocol,
        resolution,
        variant,
        cast(step.number as integer) as step,
        step.stage as stage,
        step.status as status,
        step.cpu_s as cpu_s,
        step.peak_memory as peak_memory
    from steps
)

select
    evaluation,
    model,
    protocol,
    resolution,
    variant,
    step,
    stage,
    status,
    count(*) as n_runs,
    count(*) / sum(count(*)) over (partition by evaluation, step) as share,
    cast(avg(cast(cpu_s as decimal(18, 9))) as double) as mean_cpu_s,
    max(peak_memory) as peak_memory
from endings
group by evaluation, model, protocol, resolution, variant, step, stage, status
order by evaluation, step, stage, n_runs desc, status
