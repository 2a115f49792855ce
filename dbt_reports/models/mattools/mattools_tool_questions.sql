with
answers as (
    select
        evaluation,
        model,
        system,
        question_set,
        mode,
        origin,
        question_id,
        count(*) as repeats,
        count(n_passed) as n_verified,
        {{ exact_mean('case when runnable then 1 when not runnable then 0 end') }} as runnable_rate,
        stddev_pop(case when runnable then 1 when not runnable then 0 end) as runnable_sd,
        {{ exact_mean('n_passed / n_properties') }} as task_success_rate,
        stddev_pop(n_passed / n_properties) as task_success_sd,
        {{ exact_mean('case when n_passed = n_properties then 1 when n_passed < n_properties then 0 end') }}
            as fully_right_rate
    from {{ ref('mattools_tool_scores') }}
    group by all
)

select
    evaluation,
    model,
    system,
    question_set,
    mode,
    origin,
    question_id,
    topic,
    cast(repeats as integer) as repeats,
    n_properties,
    n_verified / repeats as coverage,
    runnable_rate,
    runnable_sd,
    task_success_rate,
    task_success_sd,
    fully_right_rate
from answers
inner join {{ ref('mattools_questions') }} using (question_set, question_id)
order by evaluation, origin, question_set, mode, question_id
