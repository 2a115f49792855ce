with counted as (
    select
        model,
        origin,
        question_kind,
        sample,
        answer,
        coalesce(lenient_letter, 'none') as answered,
        count(*) as n_answers
    from {{ ref('mattools_qa_scores') }}
    where correct_lenient is not null
    group by all
)

select
    *,
    n_answers / sum(n_answers) over (partition by model, origin, question_kind, sample, answer) as share
from counted
order by model, origin, question_kind, sample, answer, answered
