/** The real kubectl with an embedded cluster: container logs and exec, with upstream's messages where none exist. */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { after, before, test } from "node:test";
import { startKubectlCluster } from "../../src/testing/clients/kubectl-cluster.ts";
import { aPod } from "../../src/testing/clients/manifests.ts";
import { needs } from "../../src/testing/needs.ts";
import { isReady } from "../../src/embedded/conditions.ts";

const server = await startKubectlCluster({ nodes: 2 });
const { cluster } = server;
after(() => server.close());

const TALKING = {
  logs: "one\ntwo\nthree",
  exec: `
    hostname: "talking\\n"
    cat: { echo: true }
    fail: { stdout: "half\\n", stderr: "broken\\n", exitCode: 3 }
    sleep 1h: { takes: 1h }
  `,
};

async function makePod(name: string, settings: Readonly<Record<string, string>>, spec = {}): Promise<void> {
  const annotations = Object.fromEntries(Object.entries(settings).map(([key, value]) => [`simulated.k8ts.dev/${key}`, value]));
  await cluster.apply({ ...aPod(name, spec), metadata: { name, annotations } });
}

before(async () => {
  await makePod("talking", TALKING);
  await makePod(
    "pair",
    { "logs.left": "from the left", "logs.right": "from the right" },
    { containers: [aContainer("left"), aContainer("right")] },
  );
  await makePod("crashing", { logs: "I fail", "run-for": "1ms", "exit-code": "1" });
  // Images that no node has yet.
  await makePod("unpulled", { "image-pull": "fail: no such image" }, { containers: [aContainer("main", "example/missing:1")] });
  await makePod("slow", { "image-pull": "1h" }, { containers: [aContainer("main", "example/huge:1")] });
  await makePod("nowhere", {}, { nodeSelector: { is: "missing" } });
  await cluster.until("pod/talking", isReady);
  await cluster.until("pod/pair", isReady);
});

function aContainer(name: string, image = "example/app:1") {
  return { name, image };
}

test("kubectl logs shows the whole log or the requested part", needs("kubectl"), async () => {
  const { kubectl } = server;

  equal(await kubectl("logs talking"), "one\ntwo\nthree\n");
  equal(await kubectl("logs talking --tail=2"), "two\nthree\n");
  equal(await kubectl("logs talking --tail=0"), "");
  equal(await kubectl("logs talking --limit-bytes=5"), "one\nt");
  equal(await kubectl("logs talking --since=1h"), "one\ntwo\nthree\n");
  equal(await kubectl("logs talking --since-time=2100-01-01T00:00:00Z"), "");
  match(await kubectl("logs talking --timestamps --tail=1"), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z three\n$/);
});

test("kubectl logs selects the container of a pod with several", needs("kubectl"), async () => {
  const { kubectl } = server;

  equal(await kubectl("logs pair -c right"), "from the right\n");
  const { stdout, stderr } = await kubectl.run("logs pair");
  deepEqual([stdout, stderr], ["from the left\n", 'Defaulted container "left" out of: left, right\n']);
  const all = await kubectl("logs pair --all-containers --prefix");
  deepEqual(all.trimEnd().split("\n").toSorted(), ["[pod/pair/left] from the left", "[pod/pair/right] from the right"]);
});

test("kubectl logs --follow streams new lines until the container exits", needs("kubectl"), async () => {
  await makePod("counting", { logs: "tick", "log-every": "50ms", "log-repeat": "true", "run-for": "1h" });
  await cluster.until("pod/counting", isReady);

  await using following = server.kubectl.start("logs counting --follow");
  for (const _ of [1, 2, 3]) equal(await following.line(), "tick");
  await server.kubectl("delete pod counting");
  const rest = await following.rest();
  ok(
    rest.every((line) => line === "tick"),
    rest.join("\n"),
  );
});

test("kubectl logs --previous shows the log of the previous container, if there was one", needs("kubectl"), async () => {
  const { kubectl } = server;
  await kubectl("wait pod/crashing --for=jsonpath={.status.containerStatuses[0].lastState.terminated}");

  equal(await kubectl("logs crashing --previous"), "I fail\n");
  equal(await kubectl("logs crashing"), "I fail\n");
  equal(
    await kubectl.fails("logs talking --previous"),
    'Error from server (BadRequest): previous terminated container "main" in pod "talking" not found\n',
  );
});

test("kubectl logs of a container that has not started reports why", needs("kubectl"), async () => {
  const { kubectl } = server;
  await kubectl("wait pod/slow --for=jsonpath={.status.containerStatuses[0].state.waiting.reason}=ContainerCreating");
  await kubectl("wait pod/unpulled --for=jsonpath={.status.containerStatuses[0].state.waiting}");

  equal(
    await kubectl.fails("logs slow"),
    'Error from server (BadRequest): container "main" in pod "slow" is waiting to start: ContainerCreating\n',
  );
  match(
    await kubectl.fails("logs unpulled"),
    /^Error from server \(BadRequest\): container "main" in pod "unpulled" is waiting to start: (image can't be pulled|trying and failing to pull image)\n$/,
  );
  equal(await kubectl("logs nowhere"), "");
  equal(await kubectl.fails("logs missing"), 'error: error from server (NotFound): pods "missing" not found in namespace "default"\n');
  equal(await kubectl.fails("logs talking -c nothing"), "error: container nothing is not valid for pod talking out of: main\n");
});

test("kubectl exec returns output and exit code of the command", needs("kubectl"), async () => {
  const { kubectl } = server;

  equal(await kubectl("exec talking -- hostname"), "talking\n");
  deepEqual(await kubectl.run("exec talking -- fail"), {
    code: 3,
    stdout: "half\n",
    stderr: "broken\ncommand terminated with exit code 3\n",
  });
  deepEqual(await kubectl.run("exec talking -- unheard of"), {
    code: 127,
    stdout: "",
    stderr: "unheard: not found\ncommand terminated with exit code 127\n",
  });
});

test("kubectl exec passes on all of its stdin, whatever its length", needs("kubectl"), async () => {
  const input = "a line of input\n".repeat(100_000);

  equal(await server.kubectl("exec -i talking -- cat", { input }), input);
  equal(await server.kubectl("exec -i talking -- cat", { input: "" }), "");
  // The command does not read it.
  equal(await server.kubectl("exec -i talking -- hostname", { input }), "talking\n");
});

test("kubectl exec -t works without a local terminal", needs("kubectl"), async () => {
  const { code, stdout, stderr } = await server.kubectl.run("exec -it talking -- hostname");

  deepEqual([code, stdout], [0, "talking\n"]);
  match(stderr, /^Unable to use a TTY - input is not a terminal or the right kind of file\n$/);
});

test("kubectl exec into a stopped container, and attach, are rejected with a message", needs("kubectl"), async () => {
  const { kubectl } = server;

  equal(
    await kubectl.fails("exec slow -- hostname"),
    'error: Internal error occurred: unable to upgrade connection: container not found ("main")\n',
  );
  equal(
    await kubectl.fails("exec nowhere -- hostname"),
    "error: unable to upgrade connection: pod nowhere does not have a host assigned\n",
  );
  match(
    await kubectl.fails("port-forward talking 0:80"),
    /cannot forward ports of pod "talking": it is simulated and has no listening sockets/,
  );
  match(
    await kubectl.fails("attach talking"),
    /^error: cannot attach to container "main" in pod "talking": it is simulated and has no process; use kubectl logs --follow or kubectl exec$/m,
  );
});

test("an unreachable node serves neither logs nor exec", needs("kubectl"), async () => {
  const { kubectl } = server;
  await makePod("lost", TALKING);
  await cluster.until("pod/lost", isReady);
  const node = await kubectl("get pod lost -o jsonpath={.spec.nodeName}");
  await cluster.nodes.stop(node);

  match(await kubectl.fails("logs lost"), /^Error from server: error dialing backend: dial tcp \S+:10250: connect: no route to host\n$/);
  match(await kubectl.fails("exec lost -- hostname"), /^error: Internal error occurred: error dialing backend: dial tcp \S+:10250: /);
  await cluster.nodes.start(node);
  equal(await kubectl("logs lost --tail=1"), "three\n");
});
