/**
 * The real kubectl rolls Deployments out, back, pauses and resumes them, and reads their progress, as reported by the Deployment
 * controller.
 */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { after, test } from "node:test";
import { startTestApiServer } from "../../src/testing/servers/api-server.ts";
import { becomes } from "../../src/testing/becomes.ts";
import { needs } from "../../src/testing/needs.ts";
import type { ClientProgram } from "../../src/testing/clients/client-program.ts";
import { aDeployment } from "../../src/testing/clients/manifests.ts";
import { startStandInKubelet } from "./stand-in-kubelet.ts";

const server = await startTestApiServer({ controllers: ["*"] });
const kubelet = await startStandInKubelet(server);
after(async () => {
  await kubelet[Symbol.asyncDispose]();
  await server.close();
});

const ROLLED_OUT = `deployment "web" successfully rolled out`;
const FINISH = `Waiting for deployment "web" rollout to finish: `;

/** Creates a namespace with a Deployment of three pods, rolled out. */
async function inRolledOut(namespace: string): Promise<ClientProgram> {
  kubelet.allow({});
  const kubectl = await server.inNamespace(namespace);
  await kubectl("create deployment web --image=example/web:1 --replicas=3");
  await kubectl("rollout status deployment/web");
  return kubectl;
}

/** Progress deadline of the rollout. Set only in tests of it: a busy machine may well take longer. */
async function setDeadline(kubectl: ClientProgram, progressDeadlineSeconds: number): Promise<void> {
  await kubectl(`patch deployment web -p '${JSON.stringify({ spec: { progressDeadlineSeconds } })}'`);
}

/** The images of the existing pods. */
async function images(kubectl: ClientProgram): Promise<readonly string[]> {
  return (await kubectl("get pods -o jsonpath={.items[*].spec.containers[0].image}")).split(" ");
}

async function setImage(kubectl: ClientProgram, image: string, cause?: string): Promise<void> {
  await kubectl(`set image deployment/web web=${image}`);
  if (cause !== undefined) await kubectl(`annotate deployment web kubernetes.io/change-cause='${cause}' --overwrite`);
  await kubectl("rollout status deployment/web");
}

test("kubectl rollout status waits until every pod is ready", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("status");
  kubelet.allow({ ready: () => false });
  await kubectl("create deployment web --image=example/web:1 --replicas=3");
  await kubectl("wait deployment/web --for=jsonpath={.status.updatedReplicas}=3");

  await using status = kubectl.start("rollout status deployment/web");
  equal(await status.line(), `${FINISH}0 of 3 updated replicas are available...`);
  kubelet.allow({});

  const lines = await status.rest();
  equal(lines.at(-1), ROLLED_OUT);
  // It prints at every change of the Deployment, also at one that makes no pod available.
  for (const line of lines.slice(0, -1))
    match(line, /^Waiting for deployment "web" rollout to finish: [0-2] of 3 updated replicas are available\.\.\.$/);
  equal(await kubectl("rollout status deployment/web --watch=false"), `${ROLLED_OUT}\n`);
});

test("a new image replaces every pod within maxSurge and maxUnavailable", needs("kubectl"), async () => {
  const kubectl = await inRolledOut("image");

  kubelet.allow({ ready: (pod) => pod.spec?.containers[0]?.image !== "example/web:2" });
  equal(await kubectl("set image deployment/web web=example/web:2"), "deployment.apps/web image updated\n");
  await kubectl("wait deployment/web --for=jsonpath={.status.updatedReplicas}=1");
  equal(await kubectl("rollout status deployment/web --watch=false"), `${FINISH}1 out of 3 new replicas have been updated...\n`);
  deepEqual((await images(kubectl)).toSorted(), ["example/web:1", "example/web:1", "example/web:1", "example/web:2"]);
  match(await kubectl("get deployment web --no-headers"), /^web +3\/3 +1 +3 +\w+\n$/);
  kubelet.allow({});

  const lines = (await kubectl("rollout status deployment/web")).trimEnd().split("\n");
  equal(lines.at(-1), ROLLED_OUT);
  await kubectl("wait deployment/web --for=jsonpath={.status.replicas}=3");
  const [, revision] = /deployment.kubernetes.io\/revision: "?(\d+)/.exec(await kubectl("get deployment web -o yaml")) ?? [];
  equal(revision, "2");
  match(await kubectl("get replicasets --no-headers"), /^(web-[bcdfghjklmnpqrstvwxz2456789]{1,10} +(3 +3 +3|0 +0 +0) +\w+\n){2}$/);
});

test("kubectl rollout history lists every revision with its cause, and undo restores one", needs("kubectl"), async () => {
  const kubectl = await inRolledOut("history");
  await setImage(kubectl, "example/web:2", "second try");
  await setImage(kubectl, "example/web:3", "third try");

  equal(
    await kubectl("rollout history deployment/web"),
    "deployment.apps/web \nREVISION  CHANGE-CAUSE\n1         <none>\n2         second try\n3         third try\n\n",
  );
  match(
    await kubectl("rollout history deployment/web --revision=2"),
    /^deployment\.apps\/web with revision #2\nPod Template:\n  Labels:\tapp=web\n\tpod-template-hash=\w+\n  Annotations:\tkubernetes\.io\/change-cause: second try\n  Containers:\n   web:\n    Image:\texample\/web:2\n/,
  );

  equal(await kubectl("rollout undo deployment/web"), "deployment.apps/web rolled back\n");
  match(await kubectl("rollout status deployment/web"), new RegExp(`${ROLLED_OUT}\n$`));
  equal(await kubectl("get deployment web -o jsonpath={.spec.template.spec.containers[0].image}"), "example/web:2");
  equal(
    await kubectl("rollout history deployment/web"),
    "deployment.apps/web \nREVISION  CHANGE-CAUSE\n1         <none>\n3         third try\n4         second try\n\n",
  );

  equal(await kubectl("rollout undo deployment/web --to-revision=1"), "deployment.apps/web rolled back\n");
  match(await kubectl("rollout status deployment/web"), new RegExp(`${ROLLED_OUT}\n$`));
  equal(await kubectl("get deployment web -o jsonpath={.spec.template.spec.containers[0].image}"), "example/web:1");
  equal((await kubectl("get replicasets -o name")).trimEnd().split("\n").length, 3);
  equal(await kubectl.fails("rollout undo deployment/web --to-revision=2"), "error: unable to find specified revision 2 in history\n");
  equal(
    await kubectl("rollout undo deployment/web --to-revision=5"),
    "deployment.apps/web skipped rollback (current template already matches revision 5)\n",
  );
});

test("a paused Deployment collects changes and rolls out once when it is resumed", needs("kubectl"), async () => {
  const kubectl = await inRolledOut("pause");
  await setImage(kubectl, "example/web:0");

  equal(await kubectl("rollout pause deployment/web"), "deployment.apps/web paused\n");
  await kubectl("set image deployment/web web=example/web:2");
  await kubectl("set env deployment/web MODE=new");
  await kubectl("wait deployment/web --for=jsonpath={.status.observedGeneration}=5");

  equal(await kubectl('get deployment web -o jsonpath={.status.conditions[?(@.type=="Progressing")].reason}'), "DeploymentPaused");
  // Pods of the previous image may still be terminating.
  await becomes(() => images(kubectl), ["example/web:0", "example/web:0", "example/web:0"]);
  equal(await kubectl.fails("rollout pause deployment/web"), `error: deployments.apps "web" is already paused\n`);
  equal(
    await kubectl.fails("rollout undo deployment/web"),
    "error: you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again\n",
  );
  equal(
    await kubectl.fails("rollout restart deployment/web"),
    `error: deployments.apps "web" can't restart paused deployment (run rollout resume first)\n`,
  );
  await kubectl("scale deployment web --replicas=4");
  await kubectl("wait deployment/web --for=jsonpath={.status.readyReplicas}=4");

  equal(await kubectl("rollout resume deployment/web"), "deployment.apps/web resumed\n");
  match(await kubectl("rollout status deployment/web"), new RegExp(`${ROLLED_OUT}\n$`));
  equal((await kubectl("get replicasets -o name")).trimEnd().split("\n").length, 3);
  equal(await kubectl("get deployment web -o jsonpath={.metadata.annotations.deployment\\.kubernetes\\.io/revision}"), "3");
});

test("kubectl rollout restart replaces every pod with the same image", needs("kubectl"), async () => {
  const kubectl = await inRolledOut("restart");
  const before = (await kubectl("get pods -o name")).trimEnd().split("\n");

  equal(await kubectl("rollout restart deployment/web"), "deployment.apps/web restarted\n");
  match(await kubectl("rollout status deployment/web"), new RegExp(`${ROLLED_OUT}\n$`));
  await kubectl(`wait ${before.join(" ")} --for=delete`);

  deepEqual(await images(kubectl), ["example/web:1", "example/web:1", "example/web:1"]);
  const template = JSON.parse(await kubectl("get deployment web -o jsonpath={.spec.template.metadata.annotations}"));
  ok("kubectl.kubernetes.io/restartedAt" in template);
});

test("a rollout that exceeds its progress deadline makes kubectl rollout status fail", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("deadline");
  kubelet.allow({ ready: (pod) => pod.spec?.containers[0]?.image !== "example/web:broken" });
  await kubectl("create -f -", { input: aDeployment("web", { replicas: 2 }) });
  await kubectl("rollout status deployment/web");

  await setDeadline(kubectl, 1);
  await kubectl("set image deployment/web web=example/web:broken");
  const ended = await kubectl.run("rollout status deployment/web");

  equal(ended.code, 1);
  equal(ended.stderr, `error: deployment "web" exceeded its progress deadline\n`);
  const { conditions } = JSON.parse(await kubectl("get deployment web -o jsonpath={.status}")) as {
    readonly conditions: readonly Condition[];
  };
  const ofBroken = `{.items[?(@.spec.template.spec.containers[0].image=="example/web:broken")].metadata.name}`;
  const name = await kubectl(`get replicasets -o jsonpath=${ofBroken}`);
  deepEqual(
    conditions.map(({ type, status, reason, message }) => ({ type, status, reason, message })),
    [
      { type: "Available", status: "True", reason: "MinimumReplicasAvailable", message: "Deployment has minimum availability." },
      {
        type: "Progressing",
        status: "False",
        reason: "ProgressDeadlineExceeded",
        message: `ReplicaSet "${name}" has timed out progressing.`,
      },
    ],
  );

  await setDeadline(kubectl, 600);
  await kubectl("rollout undo deployment/web");
  match(await kubectl("rollout status deployment/web"), new RegExp(`${ROLLED_OUT}\n$`));
});

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

test("kubectl describe, get all and events show what the controllers did", needs("kubectl"), async () => {
  const kubectl = await inRolledOut("events");
  await kubectl("expose deployment web --port=80 --target-port=8080");
  await setImage(kubectl, "example/web:2");
  // Events are written asynchronously, in order: with the last of them all exist.
  await using watch = kubectl.start(`get events --watch -o jsonpath={.message}{"\\n"}`);
  for (let line = ""; !/^Scaled down replica set web-\w+ from 1 to 0$/.test(line);) line = await watch.line();

  const described = await kubectl("describe deployment web");
  match(described, /^Replicas: +3 desired \| 3 updated \| 3 total \| 3 available \| 0 unavailable$/m);
  match(described, /^  Available +True +MinimumReplicasAvailable$/m);
  match(described, /^  Progressing +True +NewReplicaSetAvailable$/m);
  match(described, /^OldReplicaSets: +web-\w+ \(0\/0 replicas created\)$/m);
  match(described, /^NewReplicaSet: +web-\w+ \(3\/3 replicas created\)$/m);
  match(described, /^  Normal +ScalingReplicaSet +\w+ +deployment-controller +Scaled up replica set web-\w+ from 0 to 3$/m);
  match(described, /^  Normal +ScalingReplicaSet +\w+ +deployment-controller +Scaled down replica set web-\w+ from 1 to 0$/m);
  const [name = ""] = /web-\w+/.exec(described.slice(described.indexOf("NewReplicaSet:"))) ?? [];
  match(
    await kubectl(`describe replicaset ${name}`),
    /^  Normal +SuccessfulCreate +\w+ +replicaset-controller +Created pod: web-\w+-\w{5}$/m,
  );
  match(
    await kubectl("events --for deployment/web --no-headers"),
    /Normal +ScalingReplicaSet +Deployment\/web +Scaled up replica set web-\w+ from 0 to 1\n/,
  );

  const all = await kubectl("get all --no-headers");
  match(all, /^pod\/web-\w+-\w{5} +1\/1 +Running +0 +\w+$/m);
  match(all, /^service\/web +ClusterIP +[\d.]+ +<none> +80\/TCP +\w+$/m);
  match(all, /^deployment\.apps\/web +3\/3 +3 +3 +\w+$/m);
  match(all, /^replicaset\.apps\/web-\w+ +3 +3 +3 +\w+$/m);
});
