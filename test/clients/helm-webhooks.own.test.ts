/**
 * The real Helm takes a chart with a CustomResourceDefinition, RBAC and webhooks through its lifecycle, and the API server really calls
 * them: with the certificate that the chart created, by the path of each revision, and not any more after the uninstall.
 */
import { deepEqual, equal, match } from "node:assert/strict";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { json } from "node:stream/consumers";
import { after, test } from "node:test";
import { needs } from "../../src/testing/needs.ts";
import { startTestApiServer } from "../../src/testing/servers/api-server.ts";

const server = await startTestApiServer();
after(() => server.close());

const CHART: Readonly<Record<string, string>> = {
  "Chart.yaml": "apiVersion: v2\nname: widgets\nversion: 1.0.0\n",
  "values.yaml": "port: 443\nlimit: 10\n",
  "crds/widgets.yaml": `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: widgets.example.org }
spec:
  group: example.org
  scope: Namespaced
  names: { plural: widgets, singular: widget, kind: Widget }
  versions:
    - name: v1
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, properties: { spec: { type: object, properties: { size: { type: integer } } } } } }
`,
  "templates/access.yaml": `apiVersion: v1
kind: ServiceAccount
metadata: { name: {{ .Release.Name }} }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: {{ .Release.Name }}-widgets }
rules: [{ apiGroups: [example.org], resources: [widgets], verbs: [get, list, watch] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: {{ .Release.Name }}-widgets }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {{ .Release.Name }}-widgets }
subjects: [{ kind: ServiceAccount, name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }} }]
`,
  "templates/webhooks.yaml": `{{- $name := printf "%s.%s.svc" .Release.Name .Release.Namespace }}
{{- $ca := "" }}{{ $certificate := "" }}{{ $key := "" }}
{{- with lookup "v1" "Secret" .Release.Namespace .Release.Name }}
{{- $ca = index .data "ca.crt" }}{{ $certificate = index .data "tls.crt" }}{{ $key = index .data "tls.key" }}
{{- else }}
{{- $authority := genCA "widgets-ca" 30 }}{{ $signed := genSignedCert $name nil (list $name) 30 $authority }}
{{- $ca = b64enc $authority.Cert }}{{ $certificate = b64enc $signed.Cert }}{{ $key = b64enc $signed.Key }}
{{- end }}
apiVersion: v1
kind: Secret
metadata: { name: {{ .Release.Name }} }
type: kubernetes.io/tls
data: { ca.crt: {{ $ca }}, tls.crt: {{ $certificate }}, tls.key: {{ $key }} }
---
apiVersion: v1
kind: Service
metadata: { name: {{ .Release.Name }} }
spec: { type: ExternalName, externalName: localhost }
{{- range $kind, $path := dict "Mutating" "/label" "Validating" (printf "/limit/%v" .Values.limit) }}
---
apiVersion: admissionregistration.k8s.io/v1
kind: {{ $kind }}WebhookConfiguration
metadata: { name: {{ $.Release.Name }}-widgets }
webhooks:
  - name: widgets.example.org
    admissionReviewVersions: [v1]
    sideEffects: None
    failurePolicy: Fail
    clientConfig:
      caBundle: {{ $ca }}
      service: { name: {{ $.Release.Name }}, namespace: {{ $.Release.Namespace }}, port: {{ $.Values.port }}, path: {{ $path }} }
    rules: [{ apiGroups: [example.org], apiVersions: [v1], operations: [CREATE], resources: [widgets] }]
{{- end }}
`,
};

async function aChart(): Promise<string> {
  const directory = join(server.directory, "widgets");
  for (const [name, text] of Object.entries(CHART)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), text);
  }
  return directory;
}

interface Review {
  readonly request: { readonly uid: string; readonly name: string; readonly object: { readonly spec: { readonly size: number } } };
}

/** Adds a label at /label, and limits the size at /limit/<size>. */
function reviewed(path: string, { request: { uid, object } }: Review): object {
  const [, , limit] = path.split("/");
  const patch = [{ op: "add", path: "/metadata/labels", value: { seen: "yes" } }];
  if (limit === undefined)
    return { uid, allowed: true, patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") };
  const allowed = object.spec.size <= Number(limit);
  return { uid, allowed, ...(allowed ? {} : { status: { message: `size must be at most ${limit}` } }) };
}

test("webhooks of a chart with its own kind are called from the install to the uninstall", needs("helm", "kubectl"), async () => {
  const calls: string[] = [];
  const webhooks = createServer((request: IncomingMessage, response: ServerResponse) => {
    void (async () => {
      const review = (await json(request)) as Review;
      const path = new URL(request.url ?? "", "https://localhost").pathname;
      calls.push(`${path} ${review.request.name}`);
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: reviewed(path, review) }));
    })();
  });
  after(() => {
    webhooks.close();
    webhooks.closeAllConnections();
  });
  await once(webhooks.listen(0), "listening");
  const chart = await aChart();
  const kubectl = await server.inNamespace("guarded");
  const helm = server.helm.with("--namespace=guarded");
  const widget = (name: string, size: number) =>
    JSON.stringify({ apiVersion: "example.org/v1", kind: "Widget", metadata: { name }, spec: { size } });

  await helm(`install life ${chart} --set port=${(webhooks.address() as AddressInfo).port}`);
  match(await kubectl.fails("create -f -", { input: widget("early", 1) }), /failed calling webhook "widgets\.example\.org"/);
  const { data } = JSON.parse(await kubectl("get secret life -o json")) as { readonly data: Readonly<Record<string, string>> };
  const pem = (name: string) => Buffer.from(data[name] ?? "", "base64");
  webhooks.setSecureContext({ cert: pem("tls.crt"), key: pem("tls.key") });

  await kubectl("create -f -", { input: widget("small", 7) });
  equal(await kubectl("get widget small -o jsonpath={.metadata.labels.seen}"), "yes");
  match(await kubectl.fails("create -f -", { input: widget("large", 11) }), /denied the request: size must be at most 10/);
  equal(await kubectl("auth can-i list widgets --as=system:serviceaccount:guarded:life"), "yes\n");

  await helm(`upgrade life ${chart} --reuse-values --set limit=5`);
  match(await kubectl.fails("create -f -", { input: widget("medium", 7) }), /denied the request: size must be at most 5/);

  await helm("uninstall life");
  await kubectl("create -f -", { input: widget("free", 11) });
  deepEqual(calls, ["/label small", "/limit/10 small", "/label large", "/limit/10 large", "/label medium", "/limit/5 medium"]);
  match(await kubectl.fails("get clusterrolebinding life-widgets"), /NotFound/);
});
