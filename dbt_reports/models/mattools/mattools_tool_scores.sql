{%- set columns = {
    'model': 'varchar', 'system': 'varchar', 'origin': 'varchar', 'answered_as': 'varchar', 'question_set': 'varchar',
    'question_id': 'varchar', 'topic': 'varchar', 'mode': 'varchar', 'repeat': 'integer', 'status': 'varchar',
    'runnable': 'boolean', 'n_passed': 'integer', 'n_properties': 'integer',
    'findings': 'struct(property varchar, finding varchar, detail varchar)[]', 'exception': 'varchar',
    'requests': 'integer', 'prompt_tokens': 'bigint', 'completion_tokens': 'bigint',
    'cost_usd': 'double', 'latency_s': 'double', 'scorer_version': 'varchar',
    'documents': 'varchar', 'embedder': 'varchar',
} -%}
{%- do source('lake', 'tool_scores') -%}
select
    concat_ws('/', model, answered_as) as evaluation,
    model,
    answered_as as system,
    question_set,
    mode,
    origin,
    question_id,
    topic,
    repeat,
    status,
    runnable,
    n_passed,
    n_properties,
    findings,
    exception,
    requests,
    prompt_tokens,
    completion_tokens,
    cost_usd,
    latency_s,
    scorer_version,
    documents,
    embedder
from ({{ lake_rows('tool_scores', columns) }})
order by all
