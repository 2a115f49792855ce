{%- set columns = {
    'model': 'varchar', 'origin': 'varchar', 'question_kind': 'varchar', 'question_id': 'varchar',
    'sample': 'varchar', 'repeat': 'integer', 'status': 'varchar',
    'source_id': 'varchar', 'module': 'varchar', 'object_kind': 'varchar', 'answer': 'varchar',
    'strict_letter': 'varchar', 'lenient_letter': 'varchar',
    'correct_strict': 'boolean', 'correct_lenient': 'boolean', 'unparseable': 'boolean',
} -%}
{%- do source('lake', 'qa_scores') -%}
{{ lake_rows('qa_scores', columns) }}
order by model, origin, question_kind, sample, question_id, repeat
