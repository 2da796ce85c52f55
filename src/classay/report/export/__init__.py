"""Reports on disk and elsewhere.

Read `files` first: `save` and `open_report`. Then the formats: `json_format` (the document, its schema, and how it is
read back), `page` (one HTML file), `model_card` (Markdown), `mlflow_log` (a run of MLflow).
"""
