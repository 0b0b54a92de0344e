/** `k8ts why`: the chain of causes of an object's state, and a remedy that was tried on a copy of the cluster. */
import { findSubject } from "../../../explain/live/find-subject.ts";
import { kubectlCommands } from "../../../explain/live/kubectl-commands.ts";
import { readView } from "../../../explain/live/read-view.ts";
import { tryRemedies } from "../../../explain/live/try-remedies.ts";
import type { ClusterView, Subject } from "../../../explain/why/cluster-view.ts";
import { nameOf, type Explanation } from "../../../explain/why/explainer.ts";
import { whyLines, type ShownRemedy } from "../../../explain/why/why-text.ts";
import { why as whyOf } from "../../../explain/why/why.ts";
import { within, type Command, type CommandContext } from "../command.ts";
import { NAMESPACE_FLAG, parseArguments, UsageError } from "../flags.ts";

export const why: Command = {
  program: "k8ts",
  name: ["why"],
  usage: "TYPE/NAME [-n NAMESPACE] [--try=false]",
  summary: "Explain why an object is as it is, with a remedy that was tried on a copy of the cluster",
  async run(words, given) {
    const { positional, flags } = parseArguments(words, { ...NAMESPACE_FLAG, try: {} });
    const context = within(given, flags);
    const reference = positional.length === 2 ? positional.join("/") : positional[0];
    if (reference === undefined) throw new UsageError("name an object, as in k8ts why pod/web");
    const { client, clock } = context;
    const subject = await findSubject(reference, context.namespace, client);
    const view = await readView({ client, nowMs: clock.now() });
    const result = whyOf(view, subject);
    if (result.is === "missing") throw new UsageError(`Cannot explain ${nameOf(subject)}: it does not exist`);
    if (result.is === "healthy") return context.out(`Nothing is wrong with ${nameOf(subject)} as far as it is known`);
    const { explanation } = result;
    const remedy: ShownRemedy = flags["try"] === "false" ? { is: "not tried" } : await remedyOf(context, view, subject, explanation);
    const lines = whyLines({ finding: explanation.finding, origin: view.origin(subject), remedy, unread: view.unread });
    context.out(lines.join("\n"));
  },
};

async function remedyOf(
  { copyCluster }: CommandContext,
  view: ClusterView,
  subject: Subject,
  explanation: Explanation,
): Promise<ShownRemedy> {
  const trials = await tryRemedies(view, subject, explanation, copyCluster);
  if (trials.is !== "verified") return trials;
  return { is: "verified", text: trials.remedy.text, commands: kubectlCommands(trials.remedy.changes) };
}
