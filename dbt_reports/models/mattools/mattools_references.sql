{%- set columns = {
    'source_id': 'varchar', 'target_id': 'varchar', 'kind': 'varchar', 'certainty': 'varchar', 'line': 'bigint',
    'mentions': 'bigint',
} -%}
{%- do source('lake', 'references') -%}
-- An end that is no object has no name, which the test against nulls finds.
select
    pairs.source_id,
    sources.qualified_name as source,
    sources.file as source_file,
    cast(pairs.line as integer) as line,
    pairs.target_id,
    targets.qualified_name as target,
    targets.file as target_file,
    pairs.kind,
    pairs.certainty,
    cast(pairs.mentions as integer) as mentions
from ({{ lake_rows('references', columns) }}) as pairs
left join {{ ref('mattools_code_objects') }} as sources on sources.object_id = pairs.source_id
left join {{ ref('mattools_code_objects') }} as targets on targets.object_id = pairs.target_id
order by source_file, line, source_id, target_id
