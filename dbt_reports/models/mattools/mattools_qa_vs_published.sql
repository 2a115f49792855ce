{#- Ours beside table 1: the official questions under the paper's rule of reading. -#}
select
    published.published_model,
    published.question_kind,
    published.n_correct as published_n_correct,
    published.n_questions as published_n_questions,
    published.accuracy as published_accuracy,
    ours.model,
    ours.sample,
    ours.repeats,
    ours.n_questions,
    ours.coverage,
    ours.accuracy_strict,
    ours.accuracy_lenient,
    ours.ci_low,
    ours.ci_high,
    ours.accuracy_strict - published.accuracy as difference,
    published.source
from {{ ref('published_qa_accuracy') }} as published
left join {{ ref('published_qa_models') }} as counterparts
    on counterparts.published_model = published.published_model
left join {{ ref('mattools_qa_accuracy') }} as ours
    on ours.model = counterparts.model
    and ours.question_kind = published.question_kind
    and ours.origin = 'published'
order by published.question_kind, published.accuracy desc, published.published_model, ours.sample
