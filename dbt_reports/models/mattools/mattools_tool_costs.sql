select
    evaluation,
    model,
    system,
    question_set,
    mode,
    origin,
    cast(count(*) as integer) as n_answers,
    cast(sum(requests) as integer) as requests,
    case when count(*) = count(prompt_tokens) then cast(sum(prompt_tokens) as bigint) end as prompt_tokens,
    case when count(*) = count(completion_tokens) then cast(sum(completion_tokens) as bigint) end as completion_tokens,
    {{ whole_sum('cost_usd') }} as cost_usd,
    cast(coalesce(sum(n_passed), 0) as integer) as n_passed,
    {{ whole_sum('cost_usd') }} / nullif(sum(n_passed), 0) as usd_per_passed_task,
    {{ whole_sum('latency_s') }} / count(*) as seconds_per_question
from {{ ref('mattools_tool_scores') }}
group by all
order by question_set, mode, evaluation, origin
