{%- set key = 'evaluation, model, system, question_set, mode, origin' -%}
with
judged as (
    select * from {{ ref('mattools_tool_scores') }}
    where n_passed is not null
),

unjudged as (
    select {{ key }}, 'without verdict' as kind, status as failure, question_id, null as detail
    from {{ ref('mattools_tool_scores') }}
    where n_passed is null
),

statuses as (
    select {{ key }}, 'status' as kind, status as failure, question_id, null as detail
    from judged
    where status <> 'ok'
),

exceptions as (
    select {{ key }}, 'exception' as kind, exception as failure, question_id, null as detail
    from judged
    where exception is not null
),

properties as (
    select {{ key }}, question_id, unnest(findings) as found
    from judged
),

failures as (
    select * from unjudged
    union all
    select * from statuses
    union all
    select * from exceptions
    union all
    select {{ key }}, 'property' as kind, found.finding as failure, question_id, found.property || ': ' || found.detail
    from properties
    where found.finding <> 'passed'
),

totals as (
    select {{ key }}, count(*) as n_answers, sum(case when n_passed is not null then n_properties end) as n_properties
    from {{ ref('mattools_tool_scores') }}
    group by all
)

select
    {{ key }},
    kind,
    failure,
    cast(count(*) as integer) as n_failures,
    count(*) / case when kind = 'property' then any_value(n_properties) else any_value(n_answers) end as share,
    cast(count(distinct question_id) as integer) as n_questions,
    min(question_id) as example_question,
    arg_min(detail, question_id || coalesce(detail, '')) as example_detail
from failures
inner join totals using ({{ key }})
group by {{ key }}, kind, failure
order by evaluation, origin, question_set, mode, kind, n_failures desc, failure
