{%- set columns = {
    'object_id': 'varchar', 'kind': 'varchar', 'name': 'varchar', 'qualified_name': 'varchar', 'file': 'varchar',
    'start_line': 'bigint', 'end_line': 'bigint', 'parent_id': 'varchar', 'docstring': 'varchar',
    'callees': 'bigint', 'callers': 'bigint', 'level': 'bigint', 'group_id': 'varchar',
} -%}
{%- do source('lake', 'code_objects') -%}
select
    object_id,
    kind,
    name,
    qualified_name,
    file,
    cast(start_line as integer) as start_line,
    cast(end_line as integer) as end_line,
    parent_id,
    docstring <> '' as has_docstring,
    cast(level as integer) as level,
    group_id,
    cast(callers as integer) as n_callers,
    cast(callees as integer) as n_callees
from ({{ lake_rows('code_objects', columns) }})
order by file, start_line, object_id
