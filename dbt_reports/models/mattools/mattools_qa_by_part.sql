{%- do source('lake', 'qa_accuracy') -%}
select
    model,
    origin,
    question_kind,
    sample,
    dimension,
    part,
    repeats,
    n_questions,
    n_answered,
    coverage,
    accuracy_strict,
    accuracy_lenient,
    unparseable,
    ci_low,
    ci_high
from ({{ lake_rows('qa_accuracy', qa_accuracy_columns()) }})
where dimension <> 'all'
order by model, origin, question_kind, sample, dimension, part
