{{- define "webhooks.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "webhooks.fullname" -}}
{{- if contains (include "webhooks.name" .) .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "webhooks.name" .) | trunc 63 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{- define "webhooks.selectorLabels" -}}
app.kubernetes.io/name: {{ include "webhooks.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "webhooks.labels" -}}
{{ include "webhooks.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{/* Certificates as YAML: those that are there, or new ones. */}}
{{- define "webhooks.certificates" -}}
{{- $existing := lookup "v1" "Secret" .Release.Namespace (include "webhooks.fullname" .) -}}
{{- if $existing -}}
ca: {{ index $existing.data "ca.crt" }}
certificate: {{ index $existing.data "tls.crt" }}
key: {{ index $existing.data "tls.key" }}
{{- else -}}
{{- $name := printf "%s.%s.svc" (include "webhooks.fullname" .) .Release.Namespace -}}
{{- $ca := genCA (printf "%s-ca" (include "webhooks.fullname" .)) 3650 -}}
{{- $signed := genSignedCert $name nil (list $name) 365 $ca -}}
ca: {{ $ca.Cert | b64enc }}
certificate: {{ $signed.Cert | b64enc }}
key: {{ $signed.Key | b64enc }}
{{- end -}}
{{- end }}
