/** `k8ts why`: the chain of causes of an object's state, and a remedy that was tried on a copy of the cluster. */
import { isStatusError } from "../../../api/machinery/status-error.ts";
import { answerLines, explainObject } from "../../../explain/live/explain-object.ts";
import { findSubject } from "../../../explain/live/find-subject.ts";
import { within, type Command } from "../command.ts";
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
    const { client, clock, copyCluster } = context;
    const subject = await findSubject(reference, context.namespace, client);
    const tried = flags["try"] === "false" ? {} : { copyCluster };
    const answer = await explainObject(subject, { client, nowMs: clock.now(), ...tried }).catch((error: unknown) => {
      // Not an answer of the server to a request.
      throw isStatusError(error) ? new UsageError(error.message) : error;
    });
    context.out(answerLines(answer).join("\n"));
  },
};
