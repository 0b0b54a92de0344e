import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { nextSteps, type NextStepsOptions } from "./next-steps.ts";

const PULLED = [
  "kubectl create deployment shell --image=busybox:1 -- sleep 1d",
  "# pulls an image from the internet; without access: docker save busybox:1 | k8ts image load --name b -",
];

for (const { title, cluster, expected } of [
  {
    title: "on a node with an image of its own the first Pods need no registry",
    cluster: { podsAre: "containers", presentImage: "k8ts.local/pause:1" },
    expected: ["kubectl create deployment web --image=k8ts.local/pause:1 --replicas=3", ...PULLED],
  },
  { title: "for another node the lines mention that the image is pulled", cluster: { podsAre: "containers" }, expected: PULLED },
  {
    title: "simulated Pods need no image",
    cluster: { podsAre: "simulated" },
    expected: ["kubectl create deployment web --image=any --replicas=3  # Pods are simulated, no image is pulled"],
  },
  {
    title: "without nodes Pods wait",
    cluster: { podsAre: "nothing" },
    expected: ["kubectl create deployment web --image=busybox:1 --replicas=3  # Pods stay Pending until a node joins: k8ts kubelet --help"],
  },
] satisfies readonly {
  title: string;
  cluster: Partial<NextStepsOptions> & Pick<NextStepsOptions, "podsAre">;
  expected: readonly string[];
}[]) {
  test(`next steps: ${title}`, () => {
    const lines = nextSteps({ commandArguments: " --name b", hasKubectl: true, ...cluster });
    const whole = ["kubectl get nodes", ...expected, "kubectl get pods --watch", "kubectl get events --watch"];
    deepEqual(lines, ["Try:", ...whole.map((line) => `  ${line}`)]);
  });
}

test("without kubectl the next steps report that and suggest `k8ts kubectl`", () => {
  const lines = nextSteps({ podsAre: "simulated", commandArguments: " --name b", hasKubectl: false });
  deepEqual(lines.slice(0, 3), [
    'kubectl is not on PATH: "k8ts kubectl" offers to download it (or see https://kubernetes.io/docs/tasks/tools/)',
    "Try:",
    "  k8ts kubectl --name b get nodes",
  ]);
});
