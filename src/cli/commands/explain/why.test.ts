import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { trace } from "./trace.ts";
import { why } from "./why.ts";

const ENVIRONMENT = { HOME: "/home/jane" };

test("k8ts why needs an object or a request, not both", () => {
  const problem = "Name either an object, as in k8ts why pod/web, or a request with --request";
  for (const argv of [[], ["pod/web", "--request", "a"]]) deepEqual(why.parse(argv, ENVIRONMENT), { ok: false, problems: [problem] });
});

test("k8ts why and k8ts trace have short forms of their flags", () => {
  const explained = why.parse(["pod/web", "-n", "shop", "-o", "json"], ENVIRONMENT);
  const traced = trace.parse(["deploy/web", "-f", "-n", "shop"], ENVIRONMENT);

  deepEqual(explained.ok && [explained.options.namespace, explained.options.format, explained.options.tries], ["shop", "json", true]);
  deepEqual(traced.ok && [traced.options.object, traced.options.follows, traced.options.namespace], ["deploy/web", true, "shop"]);
});
