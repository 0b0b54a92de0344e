/**
 * The kubectl command that makes a change, to copy into a shell. Names are quoted: those of roles may contain what a shell interprets, and
 * start with a dash.
 */
import { shellQuote } from "../../cli/framework/shell-quote.ts";
import type { Subject } from "../why/cluster-view.ts";
import type { Change } from "../why/explainer.ts";

export function kubectlCommands(changes: readonly Change[]): readonly string[] {
  return changes.map((change) => {
    switch (change.type) {
      case "create":
        // Not echo: that of some shells interprets the backslashes of JSON.
        return `printf %s ${shellQuote(JSON.stringify(change.object))} | kubectl create -f -`;
      case "delete":
        return `kubectl delete ${targetOf(change.target)}${change.force === true ? " --grace-period=0 --force" : ""}`;
      case "patch":
        return `kubectl patch ${targetOf(change.target)} --type=${change.patchType ?? "merge"} -p ${shellQuote(JSON.stringify(change.patch))}`;
    }
  });
}

function targetOf({ resource, namespace, name }: Subject): string {
  return `${namespace === "" ? "" : `-n ${namespace} `}${shellQuote(`${resource}/${name}`)}`;
}
