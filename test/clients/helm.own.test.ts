/** The real Helm 4 takes a chart of built-in kinds through its whole lifecycle; it stores releases in Secrets, sent as protobuf. */
import { deepEqual, equal, match } from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { startTestApiServer } from "../../src/testing/servers/api-server.ts";
import { needs } from "../../src/testing/needs.ts";

const server = await startTestApiServer();
after(() => server.close());

const CHART: Readonly<Record<string, string>> = {
  "Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\nappVersion: '7'\n",
  "values.yaml": "replicas: 2\nimage: example/shop:1\ngreeting: hello\npassword: s3cret\nautoscaling: true\n",
  "templates/config.yaml": `apiVersion: v1
kind: ConfigMap
metadata: { name: {{ .Release.Name }}, labels: { app: {{ .Release.Name }} } }
data:
  greeting: {{ .Values.greeting | quote }}
  revision: {{ .Release.Revision | quote }}
`,
  "templates/secret.yaml": `apiVersion: v1
kind: Secret
metadata: { name: {{ .Release.Name }} }
stringData: { password: {{ .Values.password | quote }} }
`,
  "templates/service.yaml": `apiVersion: v1
kind: Service
metadata: { name: {{ .Release.Name }} }
spec: { selector: { app: {{ .Release.Name }} }, ports: [{ name: http, port: 80, targetPort: 8080 }] }
`,
  "templates/deployment.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: { name: {{ .Release.Name }} }
spec:
  replicas: {{ .Values.replicas }}
  selector: { matchLabels: { app: {{ .Release.Name }} } }
  template:
    metadata: { labels: { app: {{ .Release.Name }} } }
    spec: { containers: [{ name: shop, image: {{ .Values.image }}, ports: [{ containerPort: 8080 }] }] }
`,
  "templates/autoscaler.yaml": `{{- if .Values.autoscaling }}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: {{ .Release.Name }} }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: {{ .Release.Name }} }
  maxReplicas: 5
  metrics: [{ type: Resource, resource: { name: cpu, target: { type: Utilization, averageUtilization: 60 } } }]
{{- end }}
`,
  "templates/NOTES.txt":
    '{{ .Values.greeting }} from {{ .Capabilities.KubeVersion.Version }}{{ if .Capabilities.APIVersions.Has "autoscaling/v2/HorizontalPodAutoscaler" }} that scales{{ end }}\n',
};

async function aChart(): Promise<string> {
  const directory = join(server.directory, "shop");
  await mkdir(join(directory, "templates"), { recursive: true });
  for (const [name, text] of Object.entries(CHART)) await writeFile(join(directory, name), text);
  return directory;
}

const EVERYTHING = "configmap/web\nsecret/web\nservice/web\ndeployment.apps/web\nhorizontalpodautoscaler.autoscaling/web\n";

test("a Helm release is installed, upgraded, fails to upgrade, is rolled back and uninstalled", needs("helm", "kubectl"), async (t) => {
  const kubectl = await server.inNamespace("shop");
  const helm = server.helm.with("--namespace=shop");
  const chart = await aChart();
  const objects = () => kubectl("get configmap/web secret/web service/web deployment/web hpa/web -o name");
  const history = async () =>
    (JSON.parse(await helm("history web -o json")) as Revision[]).map(({ revision, status }) => `${revision} ${status}`);

  await t.test("install --dry-run=server renders against the server and creates nothing", async () => {
    const text = await helm(`install web ${chart} --dry-run=server`);

    match(text, /^STATUS: pending-install$/m);
    match(text, /^ {2}greeting: "hello"$/m);
    equal(await kubectl("get secrets,configmaps,deployments -o name"), "");
  });

  await t.test("install creates every object and the release's Secret", async () => {
    const text = await helm(`install web ${chart}`);

    match(text, /^NAME: web\n[^]*^NAMESPACE: shop\nSTATUS: deployed\nREVISION: 1\n/m);
    match(text, /^hello from v1\.36\.\S+ that scales$/m);
    equal(await objects(), EVERYTHING);
    const { metadata, spec } = JSON.parse(await kubectl("get deployment web -o json --show-managed-fields"));
    equal(spec.replicas, 2);
    equal(metadata.labels["app.kubernetes.io/managed-by"], "Helm");
    deepEqual(metadata.annotations, { "meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": "shop" });
    deepEqual([metadata.managedFields[0].manager, metadata.managedFields[0].operation], ["helm", "Apply"]);
  });

  await t.test("the release's Secret contains the whole release", async () => {
    const { type, metadata, data } = JSON.parse(await kubectl("get secret sh.helm.release.v1.web.v1 -o json"));

    equal(type, "helm.sh/release.v1");
    const { name, owner, status, version } = metadata.labels;
    deepEqual({ name, owner, status, version }, { name: "web", owner: "helm", status: "deployed", version: "1" });
    const release = JSON.parse(gunzipSync(Buffer.from(Buffer.from(data.release, "base64").toString(), "base64")).toString());
    deepEqual([release.name, release.info.status, release.chart.metadata.name], ["web", "deployed", "shop"]);
  });

  await t.test("list, status, get manifest and get values show the release", async () => {
    const [listed] = JSON.parse(await helm("list -o json"));
    deepEqual([listed.name, listed.revision, listed.status, listed.chart, listed.app_version], ["web", "1", "deployed", "shop-1.0.0", "7"]);
    match(await helm("status web"), /^STATUS: deployed$/m);
    match(await helm("get manifest web"), /^kind: HorizontalPodAutoscaler$/m);
    deepEqual(JSON.parse(await helm("get values web --all -o json")).replicas, 2);
    equal(await server.helm("list --namespace=default -q"), "");
  });

  await t.test("upgrade updates changed objects and deletes those that the chart no longer has", async () => {
    const text = await helm(`upgrade web ${chart} --set replicas=3,greeting=hi,autoscaling=false`);

    match(text, /^STATUS: deployed\nREVISION: 2\n/m);
    equal(await kubectl("get deployment web -o jsonpath={.spec.replicas}"), "3");
    equal(await kubectl("get configmap web -o jsonpath={.data.greeting}"), "hi");
    equal(await kubectl("get hpa --ignore-not-found -o name"), "");
    deepEqual(await history(), ["1 superseded", "2 deployed"]);
  });

  await t.test("an upgrade that the server rejects is reported and recorded as failed", async () => {
    const error = await helm.fails(`upgrade web ${chart} --reuse-values --set replicas=-1`);

    match(
      error,
      /UPGRADE FAILED: .*Deployment\.apps "web" is invalid: spec\.replicas: Invalid value: -1: must be greater than or equal to 0/,
    );
    deepEqual(await history(), ["1 superseded", "2 deployed", "3 failed"]);
    equal(await kubectl("get deployment web -o jsonpath={.spec.replicas}"), "3");
  });

  await t.test("rollback restores the previous objects, including deleted ones", async () => {
    match(await helm("rollback web 1"), /^Rollback was a success! Happy Helming!$/m);

    equal(await objects(), EVERYTHING);
    equal(await kubectl("get deployment web -o jsonpath={.spec.replicas}"), "2");
    equal(await kubectl("get configmap web -o jsonpath={.data}"), `{"greeting":"hello","revision":"1"}`);
    deepEqual(await history(), ["1 superseded", "2 superseded", "3 failed", "4 deployed"]);
    equal((await kubectl("get secrets -l owner=helm,status=deployed -o name")).trimEnd(), "secret/sh.helm.release.v1.web.v4");
  });

  await t.test("a field that another manager owns is a conflict, unless forced", async () => {
    await kubectl("scale deployment web --replicas=9");

    match(
      await helm.fails(`upgrade web ${chart} --set replicas=4`),
      /conflict with "kubectl" with subresource "scale".*: \.spec\.replicas/,
    );
    await helm(`upgrade web ${chart} --set replicas=4 --force-conflicts`);

    equal(await kubectl("get deployment web -o jsonpath={.spec.replicas}"), "4");
  });

  await t.test("uninstall deletes everything, including the release's Secrets", async () => {
    equal(await helm("uninstall web"), `release "web" uninstalled\n`);

    equal(await kubectl("get configmaps,secrets,services,deployments,hpa -o name"), "");
    match(await helm.fails("status web"), /release: not found/);
  });
});

interface Revision {
  readonly revision: number;
  readonly status: string;
}

test("a Helm release created client-side can be kept and found again after uninstall", needs("helm", "kubectl"), async () => {
  const kubectl = await server.inNamespace("client-side");
  const helm = server.helm.with("--namespace=client-side");
  const chart = await aChart();

  await helm(`install web ${chart} --server-side=false`);
  await helm(`upgrade web ${chart} --server-side=false --set greeting=bye`);
  equal(await kubectl("get configmap web -o jsonpath={.data.greeting}"), "bye");
  await helm("uninstall web --keep-history");

  deepEqual(
    (JSON.parse(await helm("history web -o json")) as Revision[]).map(({ status }) => status),
    ["superseded", "uninstalled"],
  );
  equal(await kubectl("get configmaps,services,deployments,hpa -o name"), "");
});

test("a failed Helm install leaves a release with status failed, which an upgrade repairs", needs("helm", "kubectl"), async () => {
  const kubectl = await server.inNamespace("broken");
  const helm = server.helm.with("--namespace=broken");
  const chart = await aChart();

  match(
    await helm.fails(`install web ${chart} --set image=`),
    /INSTALLATION FAILED: .*spec\.template\.spec\.containers\[0\]\.image: Required value/,
  );

  equal(await kubectl("get secrets -l owner=helm,status=failed -o name"), "secret/sh.helm.release.v1.web.v1\n");
  match(await helm.fails(`install web ${chart}`), /cannot reuse a name that is still in use/);
  await helm(`upgrade --install web ${chart} --set image=example/shop:2`);
  match(await helm("status web"), /^STATUS: deployed$/m);
});
