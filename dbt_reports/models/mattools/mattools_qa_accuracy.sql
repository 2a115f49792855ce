{%- do source('lake', 'qa_accuracy') -%}
select
    model,
    question_kind,
    sample,
    repeats,
    n_questions,
    n_answered,
    coverage,
    accuracy_strict,
    accuracy_lenient,
    unparseable,
    ci_low,
    ci_high,
    origin
from ({{ lake_rows('qa_accuracy', qa_accuracy_columns()) }})
where dimension = 'all'
order by origin, question_kind, sample, accuracy_lenient desc nulls last, model
