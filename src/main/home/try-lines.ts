/** What to try with a cluster that has just started: lines for a shell, which do on its nodes what they seem to. Pure. */

export interface TriedCluster {
  /** What its Pods run on. "nothing": it has no nodes of its own. */
  readonly podsAre: "containers" | "simulated" | "nothing";
  /** What names it on a command line of k8ts, with a blank before it. */
  readonly commandArguments: string;
}

export function tryLines({ podsAre, commandArguments }: TriedCluster): readonly string[] {
  const create = {
    containers: [
      "kubectl create deployment web --image=busybox --replicas=3 -- sleep 1d",
      `# that pulls the image from the internet; without: k8ts image load${commandArguments} FILE, where FILE is of docker save busybox`,
    ],
    simulated: ["kubectl create deployment web --image=any --replicas=3  # no image is needed: Pods are simulated"],
    nothing: ["kubectl create deployment web --image=busybox --replicas=3  # Pods wait until a node joins: k8ts kubelet --help"],
  }[podsAre];
  const lines = ["kubectl get nodes", ...create, "kubectl get pods --watch", "kubectl get events --watch"];
  return ["Try:", ...lines.map((line) => `  ${line}`)];
}
