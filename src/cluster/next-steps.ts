/** What to try with a cluster that has just started: lines for a shell, which do on its nodes what they seem to. Pure. */

export interface NextStepsOptions {
  /** What its Pods run on. "nothing": it has no nodes of its own. */
  readonly podsAre: "containers" | "simulated" | "nothing";
  /** An image that its node has without a registry, with a tag that is not pulled always. Absent: it may have none. */
  readonly presentImage?: string;
  /** What names it on a command line of k8ts, with a blank before it. */
  readonly commandArguments: string;
  /** Whether kubectl is on PATH; if not, `k8ts kubectl` takes its place. */
  readonly hasKubectl: boolean;
}

export function nextSteps({ podsAre, presentImage, commandArguments, hasKubectl }: NextStepsOptions): readonly string[] {
  const kubectl = hasKubectl ? "kubectl" : `k8ts kubectl${commandArguments}`;
  // With the tag latest, or none, an image is pulled at every start of a Pod.
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
