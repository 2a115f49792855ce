{%- set columns = {
    'source': 'varchar', 'embedder': 'varchar', 'documents': 'varchar', 'question_id': 'varchar', 'k': 'bigint',
    'needed': 'varchar[]', 'available': 'varchar[]', 'found': 'varchar[]',
} -%}
{%- do source('lake', 'retrieval_recall') -%}
select
    source,
    embedder,
    documents,
    cast(k as integer) as k,
    cast(count(*) as integer) as n_questions,
    cast(sum(len(needed)) as integer) as n_needed,
    sum(len(available)) / nullif(sum(len(needed)), 0) as available,
    sum(len(found)) / nullif(sum(len(needed)), 0) as recall,
    avg(len(found) / nullif(len(needed), 0)) as mean_recall,
    cast(count(*) filter (len(found) > 0) as integer) as n_questions_with_a_hit
from ({{ lake_rows('retrieval_recall', columns) }})
where len(needed) > 0
group by all
order by source, embedder
