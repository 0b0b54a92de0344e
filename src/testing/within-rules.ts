/** A transport that allows only the requests covered by a controller's rules: a missing rule fails the controller's own test. */
import { ruleAllowsName, ruleAllowsResource } from "../api/rbac.authorization.k8s.io/v1/rule-matching.ts";
import { groupResourceOf } from "../api/machinery/object.ts";
import { StatusError } from "../api/machinery/status-error.ts";
import type { Transport, TransportRequest } from "../api/machinery/transport.ts";
import type { Controller } from "../controllers/runtime/controller.ts";

export function withinRules(transport: Transport, { name: controller, rules }: Pick<Controller, "name" | "rules">): Transport {
  return {
    ...transport,
    request(request) {
      if (!isAllowed(rules, request)) return Promise.reject(refusal(controller, request));
      return transport.request(request);
    },
  };
}

function isAllowed(rules: Controller["rules"], { verb, group, plural, subresource = "", name = "" }: TransportRequest): boolean {
  return rules.some((rule) => ruleAllowsResource(rule, { verb, group, plural, subresource }) && ruleAllowsName(rule, name));
}

function refusal(controller: string, { verb, group, plural, subresource }: TransportRequest): StatusError {
  const what = subresource === undefined ? plural : `${plural}/${subresource}`;
  return new StatusError("Forbidden", `${controller} lacks a rule to ${verb} ${groupResourceOf(group, what)}`);
}
