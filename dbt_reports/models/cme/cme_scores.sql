{%- set columns = {
    'model': 'varchar', 'protocol': 'varchar', 'variant': 'varchar', 'resolution': 'integer', 'repeat': 'integer',
    'problem_id': 'varchar', 'category': 'varchar', 'domain': 'varchar', 'tier': 'integer', 'level': 'integer',
    'status': 'varchar', 'status_lenient': 'varchar',
    'score': 'double', 'score_lenient': 'double', 'score_wide': 'double',
    'prompt_tokens': 'bigint', 'completion_tokens': 'bigint', 'cost_usd': 'double', 'latency_s': 'double',
    'values_strict': 'double[]', 'values_lenient': 'double[]', 'truth': 'double[]', 'gamma': 'double',
    'rms_over_peak': 'double', 'pedestal_over_peak': 'double',
    'prompt_hash': 'varchar', 'category_hash': 'varchar', 'scorer_version': 'varchar',
} -%}
{%- do source('lake', 'direct_scores') -%}
{%- do source('lake', 'code_scores') -%}
{%- do source('lake', 'react_scores') -%}
with scores as (
    {{ lake_rows('direct_scores', columns) }}
    union all
    {{ lake_rows('code_scores', columns) }}
    union all
    {{ lake_rows('react_scores', columns) }}
)

select
    concat_ws('/', model, protocol, resolution, nullif(variant, 'published')) as evaluation,
    *
from scores
order by model, protocol, variant, resolution, repeat, category, level
