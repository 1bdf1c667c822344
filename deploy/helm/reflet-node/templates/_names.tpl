{{- define "reflet-node.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "reflet-node.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "reflet-node.labels" -}}
{{ include "reflet-node.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "reflet-node.subject" -}}
- kind: ServiceAccount
  name: {{ include "reflet-node.name" . }}
  namespace: {{ .Release.Namespace }}
{{- end -}}

{{- /* The names of the nodes, which are those of the StatefulSet's pods. */ -}}
{{- define "reflet-node.nodes" -}}
{{- range $number := until (int .Values.nodes) }}
- {{ include "reflet-node.name" $ }}-{{ $number }}
{{- end }}
{{- end -}}
