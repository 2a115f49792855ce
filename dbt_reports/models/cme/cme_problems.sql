{%- set columns = {
    'problem_id': 'varchar', 'category': 'varchar', 'title': 'varchar', 'domain': 'varchar', 'tier': 'integer',
    'level': 'integer', 'role': 'varchar', 'resolution': 'integer', 'map_kind': 'varchar', 'noise': 'double',
    'energy_factor': 'double', 'unit': 'varchar', 'shape': 'varchar', 'published': 'boolean',
} -%}
{%- do source('lake', 'problems') -%}
with
posed as (
    select distinct on (problem_id)
        * exclude (role, resolution) replace (coalesce(published, true) as published)
    from ({{ lake_rows('problems', columns) }})
    where role = 'question'
    order by problem_id, resolution
),

-- Problems that only the scores know: their category's file was deleted from the lake, the scores count nonetheless.
answered as (
    select distinct problem_id, category, domain, tier, level, true as published
    from {{ ref('cme_scores') }}
    where problem_id not in (select problem_id from posed)
)

select * from posed
union all by name
select * from answered
order by category, level
