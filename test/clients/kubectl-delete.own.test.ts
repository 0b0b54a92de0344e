/** The real kubectl deletes, in every way, and waits: the behaviour of the API server itself, without a garbage collector. */
import { deepEqual, equal, match } from "node:assert/strict";
import { after, test } from "node:test";
import { startTestApiServer } from "../../src/testing/servers/api-server.ts";
import { needs } from "../../src/testing/needs.ts";
import { aConfigMap, aDeployment, aList, aNode, aPod } from "../../src/testing/clients/manifests.ts";

const server = await startTestApiServer();
after(() => server.close());

test("kubectl delete accepts names, files, labels and --all", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("delete");
  const names = ["a", "b", "c", "d", "e"];
  await kubectl("create -f -", { input: aList(...names.map((name) => aConfigMap(name, {}, name === "c" ? { labels: { x: "y" } } : {}))) });

  equal(await kubectl("delete configmap a"), `configmap "a" deleted from delete namespace\n`);
  equal(await kubectl("delete -f -", { input: aConfigMap("b") }), `configmap "b" deleted from delete namespace\n`);
  equal(await kubectl("delete configmaps -l x=y"), `configmap "c" deleted from delete namespace\n`);
  equal(await kubectl("delete configmap d --dry-run=server"), `configmap "d" deleted from delete namespace (server dry run)\n`);
  equal(
    await kubectl("delete configmaps --all"),
    `configmap "d" deleted from delete namespace\nconfigmap "e" deleted from delete namespace\n`,
  );

  equal(await kubectl("get configmaps -o name"), "");
  equal(await kubectl.fails("delete configmap a"), `Error from server (NotFound): configmaps "a" not found\n`);
  equal(await kubectl("delete configmap a --ignore-not-found"), "");
});

test("kubectl delete --cascade sets the finalizer for the garbage collector", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("cascade");
  await kubectl("create -f -", { input: aList(aDeployment("background"), aDeployment("foreground"), aDeployment("orphan")) });

  await kubectl("delete deployment background --cascade=background");
  await kubectl("delete deployment foreground --cascade=foreground --wait=false");
  await kubectl("delete deployment orphan --cascade=orphan --wait=false");

  const { items } = JSON.parse(await kubectl("get deployments -o json"));
  deepEqual(
    items.map(({ metadata }: Deleted) => [
      metadata.name,
      metadata.finalizers,
      metadata.deletionTimestamp !== undefined,
      metadata.deletionGracePeriodSeconds,
      metadata.generation,
    ]),
    [
      ["foreground", ["foregroundDeletion"], true, 0, 2],
      ["orphan", ["orphan"], true, 0, 2],
    ],
  );
  await kubectl(`patch deployment orphan --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'`);
  equal(await kubectl("get deployments -o name"), "deployment.apps/foreground\n");
});

interface Deleted {
  readonly metadata: {
    readonly name: string;
    readonly finalizers?: readonly string[];
    readonly deletionTimestamp?: string;
    readonly deletionGracePeriodSeconds?: number;
    readonly generation: number;
  };
}

test("kubectl delete waits until the last finalizer is removed", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("finalizer");
  await kubectl("create -f -", { input: aConfigMap("held", {}, { finalizers: ["example.com/hold"] }) });

  await using deletion = kubectl.start("delete configmap held");
  equal(await deletion.line(), `configmap "held" deleted from finalizer namespace`);
  match(await kubectl("get configmap held -o jsonpath={.metadata.deletionTimestamp}"), /^\d{4}-/);
  equal(
    await kubectl.fails(`patch configmap held --type=merge -p '{"metadata":{"finalizers":["example.com/hold","example.com/new"]}}'`),
    `The ConfigMap "held" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/new"}\n`,
  );
  await kubectl(`patch configmap held --type=merge -p '{"metadata":{"finalizers":null}}'`);

  deepEqual(await deletion.rest(), []);
  equal(await kubectl.fails("get configmap held"), `Error from server (NotFound): configmaps "held" not found\n`);
});

test("a bound pod gets its grace period, a shorter one by a second delete, and none with --force", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("grace");
  await kubectl("create -f -", { input: aList(aPod("placed", { nodeName: "n1" }), aPod("forced", { nodeName: "n1" }), aPod("waiting")) });
  const grace = () => kubectl("get pod placed -o jsonpath={.metadata.deletionGracePeriodSeconds}");

  await kubectl("delete pod placed --wait=false");
  equal(await grace(), "30");
  match(await kubectl("get pod placed --no-headers"), /^placed +0\/1 +Terminating +0 +\w+\n$/);
  await kubectl("delete pod placed --wait=false --grace-period=5");
  equal(await grace(), "5");
  const forced = await kubectl.run("delete pod forced placed --force");
  await kubectl("delete pod waiting");

  match(forced.stdout, /^pod "forced" force deleted from grace namespace\npod "placed" force deleted from grace namespace\n$/);
  match(forced.stderr, /^Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated\./);
  equal(await kubectl("get pods -o name"), "");
});

test("a deleted namespace is terminating and rejects new objects", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("ending");

  equal(await server.kubectl("delete namespace ending --wait=false"), `namespace "ending" deleted\n`);

  match(await server.kubectl("get namespace ending --no-headers"), /^ending +Terminating +\w+\n$/);
  equal(
    await kubectl.fails("create configmap late"),
    `error: failed to create configmap: configmaps "late" is forbidden: unable to create new content in namespace ending because it is being terminated\n`,
  );
  equal(
    await server.kubectl.fails("delete namespace default"),
    `Error from server (Forbidden): namespaces "default" is forbidden: this namespace may not be deleted\n`,
  );
  const finalized = { apiVersion: "v1", kind: "Namespace", metadata: { name: "ending" }, spec: {} };
  await server.kubectl("replace --raw /api/v1/namespaces/ending/finalize -f -", { input: finalized });
  equal(await server.kubectl("get namespace ending --ignore-not-found"), "");
});

test("kubectl wait waits for deletion, conditions, fields and creation", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("wait");
  await kubectl("create deployment web --image=example/web");
  const status = (status: object) => `patch deployment web --subresource=status --type=merge -p '${JSON.stringify({ status })}'`;

  await using available = kubectl.start("wait deployment/web --for=condition=Available --timeout=90s");
  await using replicas = kubectl.start("wait deployment/web --for=jsonpath={.status.readyReplicas}=1 --timeout=90s");
  await using made = kubectl.start("wait configmap/late --for=create --timeout=90s");
  await using gone = kubectl.start("wait deployment/web --for=delete --timeout=90s -v=6");
  await kubectl(status({ conditions: [{ type: "Available", status: "False", reason: "R", message: "m" }] }));
  await kubectl(status({ replicas: 1, readyReplicas: 1, conditions: [{ type: "Available", status: "True", reason: "R", message: "m" }] }));
  equal(await available.line(), "deployment.apps/web condition met");
  equal(await replicas.line(), "deployment.apps/web condition met");
  await kubectl("create configmap late");
  equal(await made.line(), "configmap/late condition met");
  // For an object that never existed it would print nothing.
  await gone.noted(/"Response".*\/deployments.* status="200 OK"/);
  await kubectl("delete deployment web");
  equal(await gone.line(), "deployment.apps/web condition met");

  equal(
    await kubectl.fails("wait configmap/late --for=jsonpath={.data.x}=1 --timeout=0s"),
    "error: condition not met for configmaps/late\n",
  );
});

test("an eviction deletes a pod with its grace period", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("evict");
  await kubectl("create -f -", { input: aNode("evicted") });
  await kubectl("create -f -", { input: aPod("app", { nodeName: "evicted" }) });
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "app", namespace: "evict" } };

  const answer = JSON.parse(await kubectl("create --raw /api/v1/namespaces/evict/pods/app/eviction -f -", { input: eviction }));

  deepEqual([answer.kind, answer.status], ["Status", "Success"]);
  equal(await kubectl("get pod app -o jsonpath={.metadata.deletionGracePeriodSeconds}"), "30");
});
