{%- set key = 'evaluation, model, system, question_set, mode, origin' -%}
with
sets as (
    select question_set, count(*) as n_questions, sum(n_properties) as n_properties
    from {{ ref('mattools_questions') }}
    group by question_set
),

repetitions as (
    select
        {{ key }},
        repeat,
        count(n_passed) as n_verified,
        {{ exact_mean('case when runnable then 1 when not runnable then 0 end') }} as runnable_rate,
        sum(n_passed) / nullif(sum(case when n_passed is not null then n_properties end), 0) as task_success_rate
    from {{ ref('mattools_tool_scores') }}
    group by all
),

evaluations as (
    select
        {{ key }},
        count(*) as repeats,
        sum(n_verified) as n_verified,
        avg(runnable_rate) as runnable_rate,
        stddev_pop(runnable_rate) as runnable_sd,
        avg(task_success_rate) as task_success_rate,
        stddev_pop(task_success_rate) as task_success_sd
    from repetitions
    group by all
),

-- Answers from other documents are asked for again, so an evaluation has one writer; several would all be named.
retrieved as (
    select
        {{ key }},
        string_agg(distinct documents, ', ' order by documents) as documents,
        string_agg(distinct embedder, ', ' order by embedder) as embedder
    from {{ ref('mattools_tool_scores') }}
    group by all
)

select
    {{ key }},
    cast(repeats as integer) as repeats,
    cast(n_questions as integer) as n_questions,
    cast(n_properties as integer) as n_properties,
    n_verified / (n_questions * repeats) as coverage,
    runnable_rate,
    runnable_sd,
    task_success_rate,
    task_success_sd,
    ci_low,
    ci_high,
    documents,
    embedder
from evaluations
inner join sets using (question_set)
inner join retrieved using ({{ key }})
left join {{ ref('mattools_tool_intervals') }} using (evaluation, question_set, mode, origin)
order by question_set, mode, task_success_rate desc nulls last, evaluation, origin
