{#- The columns of the lake's qa_accuracy that the reports use. -#}
{%- macro qa_accuracy_columns() -%}
    {{ return({
        'model': 'varchar', 'origin': 'varchar', 'question_kind': 'varchar', 'sample': 'varchar',
        'dimension': 'varchar', 'part': 'varchar', 'repeats': 'integer',
        'n_questions': 'integer', 'n_answered': 'integer', 'coverage': 'double',
        'accuracy_strict': 'double', 'accuracy_lenient': 'double', 'unparseable': 'integer',
        'ci_low': 'double', 'ci_high': 'double',
    }) }}
{%- endmacro -%}
