/** Suggested commands for a cluster that has just started, which work with its kind of nodes. Pure. */

export interface NextStepsOptions {
  /** What runs its Pods. "nothing": it has no nodes of its own. */
  readonly podsAre: "containers" | "simulated" | "nothing";
  /** An image on its node that needs no registry and no pull. Absent: there may be none. */
  readonly presentImage?: string;
  /** Arguments that select the cluster, with a leading space. */
  readonly commandArguments: string;
  /** True if kubectl is on PATH; otherwise `k8ts kubectl` replaces it. */
  readonly hasKubectl: boolean;
}

export function nextSteps({ podsAre, presentImage, commandArguments, hasKubectl }: NextStepsOptions): readonly string[] {
  const kubectl = hasKubectl ? "kubectl" : `k8ts kubectl${commandArguments}`;
  // An image with the tag latest, or none, is pulled at every start of a Pod.
  const fromRegistry = `${kubectl} create deployment shell --image=busybox:1 -- sleep 1d`;
  const offline = `# pulls an image from the internet; without access: docker save busybox:1 | k8ts image load${commandArguments} -`;
  const create = {
    containers: [
      ...(presentImage === undefined ? [] : [`${kubectl} create deployment web --image=${presentImage} --replicas=3`]),
      fromRegistry,
      offline,
    ],
    simulated: [`${kubectl} create deployment web --image=any --replicas=3  # Pods are simulated, no image is pulled`],
    nothing: [
      `${kubectl} create deployment web --image=busybox:1 --replicas=3  # Pods stay Pending until a node joins: k8ts kubelet --help`,
    ],
  }[podsAre];
  const lines = [`${kubectl} get nodes`, ...create, `${kubectl} get pods --watch`, `${kubectl} get events --watch`];
  const missing = `kubectl is not on PATH: "k8ts kubectl" offers to download it (or see https://kubernetes.io/docs/tasks/tools/)`;
  return [...(hasKubectl ? [] : [missing]), "Try:", ...lines.map((line) => `  ${line}`)];
}
