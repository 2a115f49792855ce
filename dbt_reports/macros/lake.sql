{#- The rows of one lake asset with exactly the columns given, {name: type}. Files written before a column existed
    give NULL for it; an asset without any file gives no rows but the right types. -#}
{%- macro lake_rows(asset, columns) -%}
    {%- set files = "'" ~ var('lake', '') | replace("'", "''") ~ '/' ~ asset ~ "/**/*.parquet'" -%}
    {%- set there = execute and run_query('select count(*) from glob(' ~ files ~ ')').rows[0][0] > 0 -%}
    select
        {%- for name, type in columns.items() %}
        cast({{ name }} as {{ type }}) as {{ name }}{{ ',' if not loop.last }}
        {%- endfor %}
    from (
        select
            {%- for name, type in columns.items() %}
            cast(null as {{ type }}) as {{ name }}{{ ',' if not loop.last }}
            {%- endfor %}
        where false
        {%- if there %}
        union all by name
        -- Partition keys are columns of the files; folder names are percent-encoded and are not read.
        select * from read_parquet({{ files }}, union_by_name = true, hive_partitioning = false)
        {%- endif %}
    )
{%- endmacro -%}
