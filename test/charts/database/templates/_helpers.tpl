{{- define "database.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "database.fullname" -}}
{{- if contains (include "database.name" .) .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "database.name" .) | trunc 63 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{- define "database.selectorLabels" -}}
app.kubernetes.io/name: {{ include "database.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "database.labels" -}}
{{ include "database.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{/* The password that was given, or the one that is there, or a new one. */}}
{{- define "database.password" -}}
{{- $existing := lookup "v1" "Secret" .Release.Namespace (include "database.fullname" .) -}}
{{- if .Values.auth.password -}}
{{ .Values.auth.password | b64enc }}
{{- else if $existing -}}
{{ index $existing.data "password" }}
{{- else -}}
{{ randAlphaNum 24 | b64enc }}
{{- end -}}
{{- end }}
