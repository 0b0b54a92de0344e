/** The real kubectl with an embedded cluster: workloads are rolled out to Pods that become Running on simulated nodes. */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { after, test } from "node:test";
import type { PodList } from "../../src/api/generated/core/v1.ts";
import { startKubectlCluster } from "../../src/testing/clients/kubectl-cluster.ts";
import type { ClientProgram } from "../../src/testing/clients/client-program.ts";
import { aPod } from "../../src/testing/clients/manifests.ts";
import { needs } from "../../src/testing/needs.ts";

const { cluster, inNamespace, close } = await startKubectlCluster({ nodes: 3 });
after(() => close());

const ROLLED_OUT = `deployment "web" successfully rolled out\n`;

/** Image and phase of every Pod of "web" that is not terminating. */
async function running(kubectl: ClientProgram): Promise<readonly string[]> {
  const { items } = JSON.parse(await kubectl("get pods -l app=web -o json")) as PodList;
  const staying = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return staying.map(({ spec, status }) => `${spec?.containers[0]?.image} ${status?.phase}`);
}

function inAnnotations(settings: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [`simulated.k8ts.dev/${name}`, value]));
}

test("kubectl get nodes lists simulated nodes like real ones", needs("kubectl"), async () => {
  const kubectl = await inNamespace("nodes");

  const [head = "", ...rows] = (await kubectl("get nodes -o wide")).trimEnd().split("\n");

  match(head, /^NAME +STATUS +ROLES +AGE +VERSION +INTERNAL-IP +EXTERNAL-IP +OS-IMAGE +KERNEL-VERSION +CONTAINER-RUNTIME$/);
  equal(rows.length, 3);
  for (const [index, row] of rows.entries())
    match(
      row,
      new RegExp(
        `^node-${index} +Ready +<none> +\\w+ +v1\\.36\\.0 +172\\.16\\.0\\.${index + 1} +<none> +simulated +\\S+ \\(amd64\\) +simulated://\\S+$`,
      ),
    );
});

test("a Deployment is rolled out, changed, rolled back and restarted, each time to Running pods", needs("kubectl"), async () => {
  const kubectl = await inNamespace("rollout");
  await kubectl("create deployment web --image=example/web:1 --replicas=3");
  ok((await kubectl("rollout status deployment/web")).endsWith(ROLLED_OUT));
  deepEqual(await running(kubectl), Array(3).fill("example/web:1 Running"));

  await kubectl("set image deployment/web web=example/web:2");
  ok((await kubectl("rollout status deployment/web")).endsWith(ROLLED_OUT));
  deepEqual(await running(kubectl), Array(3).fill("example/web:2 Running"));

  equal(await kubectl("rollout undo deployment/web"), "deployment.apps/web rolled back\n");
  ok((await kubectl("rollout status deployment/web")).endsWith(ROLLED_OUT));
  deepEqual(await running(kubectl), Array(3).fill("example/web:1 Running"));

  const before = (await kubectl("get pods -l app=web -o name")).trimEnd().split("\n");
  equal(await kubectl("rollout restart deployment/web"), "deployment.apps/web restarted\n");
  ok((await kubectl("rollout status deployment/web")).endsWith(ROLLED_OUT));
  await kubectl(`wait ${before.join(" ")} --for=delete`);
  deepEqual(await running(kubectl), Array(3).fill("example/web:1 Running"));
  match(await kubectl("get deployment web --no-headers"), /^web +3\/3 +3 +3 +\w+\n$/);
});

test("a rollout whose new pods do not become ready keeps the old ones", needs("kubectl"), async () => {
  const kubectl = await inNamespace("stuck");
  await kubectl("create deployment web --image=example/web:1 --replicas=3");
  await kubectl("rollout status deployment/web");

  const metadata = { annotations: inAnnotations({ "image-pull": "fail: no such image" }) };
  const spec = { containers: [{ name: "web", image: "example/web:broken" }] };
  await kubectl(`patch deployment web -p '${JSON.stringify({ spec: { template: { metadata, spec } } })}'`);
  await cluster.until("pods", (pods) => pods.length === 4, { namespace: "stuck" });
  // The status counts it shortly afterwards.
  await kubectl("wait --for=jsonpath={.status.updatedReplicas}=1 deployment/web");

  match(await kubectl("rollout status deployment/web --watch=false"), /^Waiting for deployment "web" rollout to finish: 1 out of 3 new/);
  match(await kubectl("get deployment web --no-headers"), /^web +3\/3 +1 +3 +\w+\n$/);
});

test("kubectl get --watch shows a pod from Pending to its deletion", needs("kubectl"), async () => {
  const kubectl = await inNamespace("watch");
  await using watched = kubectl.start("get pods --watch -v=6");
  await watched.noted(/verb="GET" .*\/pods\?.*watch=true" status="200 OK"/);

  await kubectl("create -f -", { input: aPod("slow", { restartPolicy: "Never" }) });
  match(await watched.line(), /^NAME +READY +STATUS +RESTARTS +AGE$/);
  const seen: string[] = [];
  while (seen.at(-1) !== "1/1 Running") seen.push(statusIn(await watched.line()));
  equal(seen[0], "0/1 Pending");
  ok(
    seen.every((status) => ["0/1 Pending", "0/1 ContainerCreating", "1/1 Running"].includes(status)),
    seen.join(", "),
  );

  await kubectl("delete pod slow");
  let last = "1/1 Running";
  while (last === "1/1 Running") last = statusIn(await watched.line());
  equal(last, "1/1 Terminating");
});

function statusIn(line: string): string {
  const [, ready, status] = line.split(/ +/);
  return `${ready} ${status}`;
}

test("kubectl wait returns as soon as a pod is ready, and reports a timeout", needs("kubectl"), async () => {
  const kubectl = await inNamespace("wait");
  const never = aPod("never");
  await kubectl("create -f -", { input: aPod("soon") });
  await kubectl("create -f -", { input: { ...never, metadata: { name: "never", annotations: inAnnotations({ "ready-after": "1h" }) } } });

  equal(await kubectl("wait --for=condition=Ready pod/soon"), "pod/soon condition met\n");
  equal(await kubectl("wait --for=jsonpath={.status.phase}=Running pod/never"), "pod/never condition met\n");
  equal(
    await kubectl.fails("wait --for=condition=Ready pod/never --timeout=2s"),
    "error: timed out waiting for the condition on pods/never\n",
  );
  match(await kubectl("get pod never --no-headers"), /^never +0\/1 +Running +0 +\w+\n$/);
});

test("pods succeed or fail as their containers exit", needs("kubectl"), async () => {
  const kubectl = await inNamespace("ends");
  const ending = (name: string, settings: Readonly<Record<string, string>>) => {
    const pod = aPod(name, { restartPolicy: "Never" });
    return { ...pod, metadata: { name, annotations: inAnnotations(settings) } };
  };
  await kubectl("create -f -", { input: ending("good", { "run-for": "10ms" }) });
  await kubectl("create -f -", { input: ending("bad", { "exit-code": "3" }) });
  await kubectl("create -f -", { input: ending("greedy", { "exit-reason": "OOMKilled" }) });

  await kubectl("wait --for=jsonpath={.status.phase}=Succeeded pod/good");
  await kubectl("wait --for=jsonpath={.status.phase}=Failed pod/bad pod/greedy");
  match(
    await kubectl("get pods --no-headers"),
    /^bad +0\/1 +Error +0 +\w+\ngood +0\/1 +Completed +0 +\w+\ngreedy +0\/1 +OOMKilled +0 +\w+\n$/,
  );
});

test("a deleted pod has its grace period, and is removed at once with --force", needs("kubectl"), async () => {
  const kubectl = await inNamespace("delete");
  const annotations = inAnnotations({ "stop-takes": "1h" });
  for (const name of ["patient", "forced"])
    await kubectl("create -f -", { input: { ...aPod(name, { terminationGracePeriodSeconds: 7200 }), metadata: { name, annotations } } });
  await kubectl("create -f -", { input: aPod("quick") });
  await kubectl("wait --for=condition=Ready pod/patient pod/forced pod/quick");

  equal(await kubectl("delete pod quick"), 'pod "quick" deleted from delete namespace\n');
  await kubectl("delete pod patient --wait=false");
  match(await kubectl("get pod patient --no-headers"), /^patient +1\/1 +Terminating +0 +\w+\n$/);
  equal(await kubectl("get pod patient -o jsonpath={.metadata.deletionGracePeriodSeconds}"), "7200");
  equal(await kubectl("delete pod patient --now"), 'pod "patient" deleted from delete namespace\n');
  equal(await kubectl("delete pod forced --force"), 'pod "forced" force deleted from delete namespace\n');
  equal(await kubectl("get pods -o name"), "");
});
