/** The real kubectl reads: every output format, selectors, pages, several kinds at once, and watches. */
import { deepEqual, equal, match } from "node:assert/strict";
import { after, test } from "node:test";
import { startTestApiServer } from "../../src/testing/servers/api-server.ts";
import { needs } from "../../src/testing/needs.ts";
import { aConfigMap, aDeployment, aList, aNode, aPod, aService } from "../../src/testing/clients/manifests.ts";

const server = await startTestApiServer();
after(() => server.close());

/** A table with ages as "AGE" and columns one space apart, so that only relevant text is compared. */
function tableOf(text: string): string[] {
  const lines = text.trimEnd().split("\n");
  return lines.map((line) =>
    line
      .trimEnd()
      .replace(/ {2,}/g, " ")
      .replace(/ (\d+[smh])+($| )/, " AGE$2"),
  );
}

test("kubectl get prints upstream's columns for every kind, also with -o wide", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("tables");
  const hpa = {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "web" },
    spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" }, maxReplicas: 3 },
  };
  const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "leader" }, spec: { holderIdentity: "me" } };
  const set = { ...aDeployment("set"), kind: "ReplicaSet" };
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "keys" }, stringData: { a: "1", b: "2" } };
  const service = aService("web", { type: "NodePort", clusterIP: "10.96.7.7", ports: [{ name: "http", port: 80, nodePort: 30080 }] });
  const input = aList(aPod("app"), service, aDeployment("web"), set, aConfigMap("settings", { a: "1" }), secret, lease, hpa);
  await kubectl("create -f -", { input });

  const text = await kubectl("get pods,services,deployments,replicasets,configmaps,secrets,leases,hpa");
  const wide = await kubectl("get pods,services,deployments,replicasets -o wide");

  deepEqual(tableOf(text), [
    "NAME READY STATUS RESTARTS AGE",
    "pod/app 0/1 Pending 0 AGE",
    "",
    "NAME TYPE CLUSTER-IP EXTERNAL-IP PORT(S) AGE",
    "service/web NodePort 10.96.7.7 <none> 80:30080/TCP AGE",
    "",
    "NAME READY UP-TO-DATE AVAILABLE AGE",
    "deployment.apps/web 0/1 0 0 AGE",
    "",
    "NAME DESIRED CURRENT READY AGE",
    "replicaset.apps/set 1 0 0 AGE",
    "",
    "NAME DATA AGE",
    "configmap/settings 1 AGE",
    "",
    "NAME TYPE DATA AGE",
    "secret/keys Opaque 2 AGE",
    "",
    "NAME HOLDER AGE",
    "lease.coordination.k8s.io/leader me AGE",
    "",
    "NAME REFERENCE TARGETS MINPODS MAXPODS REPLICAS AGE",
    "horizontalpodautoscaler.autoscaling/web Deployment/web cpu: <unknown>/80% 1 3 0 AGE",
  ]);
  deepEqual(tableOf(wide), [
    "NAME READY STATUS RESTARTS AGE IP NODE NOMINATED NODE READINESS GATES",
    "pod/app 0/1 Pending 0 AGE <none> <none> <none> <none>",
    "",
    "NAME TYPE CLUSTER-IP EXTERNAL-IP PORT(S) AGE SELECTOR",
    "service/web NodePort 10.96.7.7 <none> 80:30080/TCP AGE app=web",
    "",
    "NAME READY UP-TO-DATE AVAILABLE AGE CONTAINERS IMAGES SELECTOR",
    "deployment.apps/web 0/1 0 0 AGE web example/web:1 app=web",
    "",
    "NAME DESIRED CURRENT READY AGE CONTAINERS IMAGES SELECTOR",
    "replicaset.apps/set 1 0 0 AGE web example/web:1 app=set",
  ]);
});

test("kubectl get prints tables of nodes and namespaces", needs("kubectl"), async () => {
  const { kubectl } = server;
  await kubectl("create -f -", { input: aNode("table-node") });

  deepEqual(tableOf(await kubectl("get node table-node -o wide")), [
    "NAME STATUS ROLES AGE VERSION INTERNAL-IP EXTERNAL-IP OS-IMAGE KERNEL-VERSION CONTAINER-RUNTIME",
    "table-node Unknown <none> AGE <none> <none> <unknown> <unknown> <unknown>",
  ]);
  deepEqual(tableOf(await kubectl("get namespaces default kube-system")), [
    "NAME STATUS AGE",
    "default Active AGE",
    "kube-system Active AGE",
  ]);
});

test("kubectl get all lists the kinds of the category", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("all");
  equal((await kubectl.run("get all")).stderr, "No resources found in all namespace.\n");
  await kubectl("create -f -", { input: aList(aPod("app"), aService("web"), aDeployment("web"), aConfigMap("settings")) });

  equal(await kubectl("get all -o name"), "pod/app\nservice/web\ndeployment.apps/web\n");
});

test("every output format of kubectl get shows the same object", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("forms");
  await kubectl("create -f -", { input: aConfigMap("settings", { a: "1" }, { labels: { tier: "x" } }) });
  const { metadata } = JSON.parse(await kubectl("get configmap settings -o json"));

  equal(
    await kubectl("get configmap settings -o yaml"),
    `apiVersion: v1
data:
  a: "1"
kind: ConfigMap
metadata:
  creationTimestamp: "${metadata.creationTimestamp}"
  labels:
    tier: x
  name: settings
  namespace: forms
  resourceVersion: "${metadata.resourceVersion}"
  uid: ${metadata.uid}
`,
  );
  const forms: readonly (readonly [form: string, text: string])[] = [
    ["-o name", "configmap/settings\n"],
    ["-o jsonpath={.data.a}-{.metadata.labels.tier}", "1-x"],
    ["-o 'jsonpath-as-json={.data}'", `[\n    {\n        "a": "1"\n    }\n]\n`],
    ["-o custom-columns=NAME:.metadata.name,A:.data.a,NONE:.data.none", "NAME       A     NONE\nsettings   1     <none>\n"],
    ["-o 'go-template={{.metadata.name}}: {{len .data}}'", "settings: 1"],
    ["-o kyaml", kyamlOf(metadata)],
  ];
  for (const [form, text] of forms) equal(await kubectl(`get configmap settings ${form}`), text);
});

function kyamlOf({ creationTimestamp, resourceVersion, uid }: { readonly [field: string]: string }): string {
  return `---
{
  apiVersion: "v1",
  data: {
    a: "1",
  },
  kind: "ConfigMap",
  metadata: {
    creationTimestamp: "${creationTimestamp}",
    labels: {
      tier: "x",
    },
    name: "settings",
    namespace: "forms",
    resourceVersion: "${resourceVersion}",
    uid: "${uid}",
  },
}
`;
}

test("kubectl get shows managed fields only on request", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("managed");
  await kubectl("create configmap settings --from-literal=a=1");

  equal(JSON.parse(await kubectl("get configmap settings -o json")).metadata.managedFields, undefined);
  const [entry, ...others] = JSON.parse(await kubectl("get configmap settings -o json --show-managed-fields")).metadata.managedFields;
  match(entry.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  deepEqual(others, []);
  deepEqual(
    { ...entry, time: "" },
    {
      manager: "kubectl-create",
      operation: "Update",
      apiVersion: "v1",
      time: "",
      fieldsType: "FieldsV1",
      fieldsV1: { "f:data": { ".": {}, "f:a": {} } },
    },
  );
});

test("kubectl get selects by labels, shows them, and prints them as columns", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("labels");
  const labelled = (name: string, labels: object) => aConfigMap(name, {}, { labels: { ...labels } });
  await kubectl("create -f -", {
    input: aList(labelled("a", { tier: "web", env: "test" }), labelled("b", { tier: "db" }), labelled("c", { tier: "cache", env: "live" })),
  });
  const names = async (selector: string) => (await kubectl(`get configmaps -o jsonpath={.items[*].metadata.name} ${selector}`)).split(" ");

  deepEqual(await names("-l tier=web"), ["a"]);
  deepEqual(await names("-l tier!=web"), ["b", "c"]);
  deepEqual(await names("-l 'tier in (web,db)'"), ["a", "b"]);
  deepEqual(await names("-l 'tier notin (web),env'"), ["c"]);
  deepEqual(await names("-l '!env'"), ["b"]);
  deepEqual(tableOf(await kubectl("get configmaps -L tier,env --no-headers")), ["a 0 AGE web test", "b 0 AGE db", "c 0 AGE cache live"]);
  deepEqual(tableOf(await kubectl("get configmap a --show-labels")), ["NAME DATA AGE LABELS", "a 0 AGE env=test,tier=web"]);
  equal(
    await kubectl.fails("get configmaps -l 'tier in web'"),
    `Error from server (BadRequest): Unable to find "/v1, Resource=configmaps" that match label selector "tier in web", field selector "": unable to parse requirement: found 'web' expected: '('\n`,
  );
});

test("kubectl get selects by fields, and names unsupported ones", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("fields");
  await kubectl("create -f -", {
    input: aList(aPod("placed", { nodeName: "n1" }), aPod("waiting"), aPod("once", { restartPolicy: "Never" })),
  });
  const names = async (selector: string) =>
    (await kubectl(`get pods -o jsonpath={.items[*].metadata.name} --field-selector=${selector}`)).split(" ");

  deepEqual(await names("metadata.name=placed"), ["placed"]);
  deepEqual(await names("spec.nodeName=n1"), ["placed"]);
  deepEqual(await names("spec.nodeName="), ["once", "waiting"]);
  deepEqual(await names("status.phase=Pending,spec.restartPolicy!=Never"), ["placed", "waiting"]);
  equal(
    await kubectl.fails("get pods --field-selector=spec.hostname=x"),
    `Error from server (BadRequest): Unable to find "/v1, Resource=pods" that match label selector "", field selector "spec.hostname=x": field label not supported: spec.hostname\n`,
  );
});

test("kubectl get lists in pages of any size, sorted by any field, from all namespaces", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("pages");
  const other = await server.inNamespace("pages-too");
  const names = Array.from({ length: 7 }, (_, index) => `n${index}`);
  await kubectl("create -f -", {
    input: aList(...names.map((name, index) => aConfigMap(name, { rank: String((index * 3) % 7) }, { labels: { page: "yes" } }))),
  });
  await other("create -f -", { input: aConfigMap("m", { rank: "9" }, { labels: { page: "yes" } }) });
  const path = "jsonpath={.items[*].metadata.name}";

  equal(await kubectl(`get configmaps --chunk-size=2 -o ${path}`), names.join(" "));
  equal((await kubectl("get configmaps --chunk-size=3 -o name")).trimEnd().split("\n").length, 7);
  equal(await kubectl(`get configmaps --sort-by=.data.rank -o ${path}`), "n0 n5 n3 n1 n6 n4 n2");
  deepEqual(
    tableOf(await kubectl("get configmaps --sort-by=.data.rank --no-headers")).map((line) => line.split(" ")[0]),
    ["n0", "n5", "n3", "n1", "n6", "n4", "n2"],
  );
  deepEqual(
    tableOf(await kubectl("get configmaps -A -l page --chunk-size=5 --no-headers")).map((line) => line.split(" ").slice(0, 2).join("/")),
    ["pages-too/m", ...names.map((name) => `pages/${name}`)],
  );
  const first = JSON.parse(await kubectl("get --raw '/api/v1/namespaces/pages/configmaps?limit=3'"));
  deepEqual([first.items.length, first.metadata.remainingItemCount], [3, 4]);
});

test("kubectl get with several names reports the missing ones", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("several");
  await kubectl("create configmap one");

  const { code, stdout, stderr } = await kubectl.run("get configmap/one configmap/two secret/three -o name");

  deepEqual([code, stdout], [1, "configmap/one\n"]);
  equal(stderr, `Error from server (NotFound): configmaps "two" not found\nError from server (NotFound): secrets "three" not found\n`);
  deepEqual(await kubectl.run("get configmap two --ignore-not-found"), { code: 0, stdout: "", stderr: "" });
  deepEqual(await kubectl.run("get secrets"), { code: 0, stdout: "", stderr: "No resources found in several namespace.\n" });
});

test("kubectl get -w shows existing objects and then every change", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("watch");
  await kubectl("create deployment web --image=example/web");
  await using watch = kubectl.start("get deployments --watch --output-watch-events");
  deepEqual(tableOf([await watch.line(), await watch.line()].join("\n")), [
    "EVENT NAME READY UP-TO-DATE AVAILABLE AGE",
    "ADDED web 0/1 0 0 AGE",
  ]);

  await kubectl("scale deployment web --replicas=3");
  await kubectl("create deployment other --image=example/web");
  await kubectl("delete deployment web");

  deepEqual(tableOf([await watch.line(), await watch.line(), await watch.line()].join("\n")), [
    "MODIFIED web 0/3 0 0 AGE",
    "ADDED other 0/1 0 0 AGE",
    "DELETED web 0/3 0 0 AGE",
  ]);
});

test("kubectl get --watch-only with a selector shows objects that enter and leave the selection", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("watch-only");
  await kubectl("create configmap before");
  await kubectl("label configmap before chosen=yes");
  await using watch = kubectl.start("get configmaps --watch-only --output-watch-events -l chosen=yes -v=6");
  await watch.noted(/"Response".*watch=true.* status="200 OK"/);

  await kubectl("create configmap after");
  await kubectl("label configmap after chosen=yes");
  await kubectl("label configmap after chosen-");

  deepEqual(tableOf([await watch.line(), await watch.line(), await watch.line()].join("\n")), [
    "EVENT NAME DATA AGE",
    "ADDED after 0 AGE",
    "DELETED after 0 AGE",
  ]);
});

test("kubectl get -w of one object shows its changes in any format", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("watch-one");
  await kubectl("create configmap settings --from-literal=a=1");
  await using watch = kubectl.start('get configmap settings --watch -o jsonpath={.data.a}{"\\n"}');
  equal(await watch.line(), "1");

  await kubectl(`patch configmap settings -p '{"data":{"a":"2"}}'`);

  equal(await watch.line(), "2");
});

test("kubectl events and get events show events, oldest first", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("events");
  await kubectl("create -f -", { input: aPod("app") });
  const event = (name: string, second: number, more: object) => ({
    apiVersion: "v1",
    kind: "Event",
    metadata: { name },
    involvedObject: { apiVersion: "v1", kind: "Pod", name: "app", namespace: "events" },
    lastTimestamp: `2026-01-01T00:00:0${second}Z`,
    source: { component: "tester" },
    ...more,
  });
  const events = [
    event("app.2", 2, { type: "Warning", reason: "BackOff", message: "Back-off restarting", count: 3 }),
    event("app.1", 1, { type: "Normal", reason: "Pulled", message: "Image is there", count: 1 }),
  ];
  await kubectl("create -f -", { input: { apiVersion: "v1", kind: "List", items: events } });

  deepEqual(
    (await kubectl("events --for=pod/app --no-headers"))
      .trimEnd()
      .split("\n")
      .map((line) => line.replace(/ {2,}/g, " ").replace(/^\S+( \(.*?\))? /, "")),
    ["Normal Pulled Pod/app Image is there", "Warning BackOff Pod/app Back-off restarting"],
  );
  equal(await kubectl("get events --field-selector=type=Warning -o jsonpath={.items[*].metadata.name}"), "app.2");
  equal(await kubectl("get events --field-selector=involvedObject.name=app,reason=Pulled -o name"), "event/app.1\n");
  equal(
    await kubectl("get events.events.k8s.io app.2 -o jsonpath={.apiVersion}/{.regarding.name}/{.note}/{.deprecatedCount}"),
    "events.k8s.io/v1/app/Back-off restarting/3",
  );
});
