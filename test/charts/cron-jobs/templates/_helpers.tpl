{{- define "cron-jobs.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "cron-jobs.fullname" -}}
{{- if contains (include "cron-jobs.name" .) .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "cron-jobs.name" .) | trunc 63 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{- define "cron-jobs.selectorLabels" -}}
app.kubernetes.io/name: {{ include "cron-jobs.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "cron-jobs.labels" -}}
{{ include "cron-jobs.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "cron-jobs.podSpec" -}}
restartPolicy: {{ .restartPolicy | default "OnFailure" }}
serviceAccountName: {{ include "cron-jobs.fullname" .root }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
containers:
  - name: job
    image: {{ .root.Values.image }}
    args: {{ .args | toJson }}
    envFrom:
      - configMapRef:
          name: {{ include "cron-jobs.fullname" .root }}
    resources:
      {{- toYaml .root.Values.resources | nindent 6 }}
{{- end }}
