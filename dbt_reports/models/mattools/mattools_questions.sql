{%- set columns = {
    'question_set': 'varchar', 'question_id': 'varchar', 'topic': 'varchar', 'text': 'varchar',
    'properties': 'struct(name varchar, asked varchar, expected varchar)[]', 'data_at_hand': 'boolean',
} -%}
{%- do source('lake', 'tool_questions') -%}
select
    question_set,
    question_id,
    topic,
    cast(len(properties) as integer) as n_properties,
    data_at_hand,
    text
from ({{ lake_rows('tool_questions', columns) }})
order by question_set, question_id
