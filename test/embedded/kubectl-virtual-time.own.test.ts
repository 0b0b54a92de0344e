/**
 * The real kubectl with a cluster under virtual time: it is answered although the clock stands still, and observes time when the test
 * advances it.
 */
import { equal, match } from "node:assert/strict";
import { after, test } from "node:test";
import { startKubectlCluster } from "../../src/testing/clients/kubectl-cluster.ts";
import { aDeployment, aPod } from "../../src/testing/clients/manifests.ts";
import { needs } from "../../src/testing/needs.ts";
import { isRolledOut } from "../../src/embedded/conditions.ts";

const server = await startKubectlCluster({ nodes: 3, clock: "virtual" });
const { cluster } = server;
after(() => server.close());

test("kubectl is answered while virtual time stands still, and work that is due happens", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("still");
  const startMs = cluster.clock.now();

  await kubectl("create -f -", { input: aDeployment("web", { replicas: 3 }) });
  match(await kubectl("rollout status deployment/web"), /deployment "web" successfully rolled out\n$/);
  match(await kubectl("get pods --no-headers"), /^(web-\w+-\w+ +1\/1 +Running +0 +\S+\n){3}$/);
  equal(await kubectl("delete deployment web"), 'deployment.apps "web" deleted from still namespace\n');

  equal(cluster.clock.now(), startMs);
});

test("a kubectl command that waits returns when the test advances virtual time", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("wait");
  const annotations = { "simulated.k8ts.dev/ready-after": "10m" };
  await kubectl("create -f -", { input: { ...aPod("slow"), metadata: { name: "slow", annotations } } });
  await using waiting = kubectl.start("wait --for=condition=Ready pod/slow --timeout=90s -v=6");
  await waiting.noted(/verb="GET" .*watch=true.* status="200 OK"/);

  await cluster.advance("9m");
  match(await kubectl("get pod slow --no-headers"), /^slow +0\/1 +Running +0 /);
  await cluster.advance("1m");

  equal(await waiting.line(), "pod/slow condition met");
  match(await kubectl("get pod slow --no-headers"), /^slow +1\/1 +Running +0 /);
});

test("kubectl logs --follow streams as virtual time advances, and exec returns at once", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("logs");
  const annotations = {
    "simulated.k8ts.dev/logs": "one\ntwo\nthree",
    "simulated.k8ts.dev/log-every": "1m",
    "simulated.k8ts.dev/exec": '{"hostname": "talking\\n", "cat": {"echo": true}}',
  };
  await kubectl("create -f -", { input: { ...aPod("talking"), metadata: { name: "talking", annotations } } });
  await kubectl("wait --for=condition=Ready pod/talking");
  await using following = kubectl.start("logs talking --follow");
  equal(await following.line(), "one");

  await cluster.advance("1m");
  equal(await following.line(), "two");
  await cluster.advance("1m");
  equal(await following.line(), "three");

  equal(await kubectl("exec talking -- hostname"), "talking\n");
  equal(await kubectl("exec -i talking -- cat", { input: "said\n" }), "said\n");
});

test("kubectl shows a lost node after its grace period, and its replaced pods after their toleration", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("lost");
  await kubectl("create -f -", { input: aDeployment("web", { replicas: 3 }) });
  await cluster.until("deployment/web", isRolledOut, { namespace: "lost" });
  await cluster.nodes.stop("node-1");

  await cluster.advance("1m");
  match(await kubectl("get node node-1 --no-headers"), /^node-1 +NotReady +<none> /);
  equal((await kubectl("get pods --field-selector=spec.nodeName=node-1 -o name")).trimEnd().split("\n").length, 1);
  await cluster.advance("5m");
  match(await kubectl("get pods --field-selector=spec.nodeName=node-1 --no-headers"), /^web-\w+-\w+ +1\/1 +Terminating +0 /);
  match(await kubectl("get deployment web --no-headers"), /^web +3\/3 +3 +3 /);
  await cluster.nodes.start("node-1");
  await cluster.advance("1m");
  match(await kubectl("get node node-1 --no-headers"), /^node-1 +Ready +<none> /);
});
