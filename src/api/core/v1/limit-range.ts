/**
 * core/v1 LimitRange: how much one container, Pod or claim of a namespace may request, and the defaults of containers.
 *
 * Not here: its enforcement (admission).
 */
import { changed, changedItems, withChanges } from "../../changes.ts";
import type { LimitRange, LimitRangeItem } from "../../generated/core/v1.ts";
import { createdAtColumn, nameColumn } from "../../machinery/columns.ts";
import { defineResource } from "../../machinery/resource.ts";
import { listOrAbsent } from "../../members.ts";
import { validateLimits } from "./limit-range/validate.ts";
import { filledFrom, roundedList } from "./pod/defaults/resources.ts";
import type { ResourceList } from "./pod/resource-list.ts";

export const limitRanges = defineResource<LimitRange>({
  kind: "LimitRange",
  plural: "limitranges",
  singular: "limitrange",
  shortNames: ["limits"],
  scope: "Namespaced",
  served: [{ group: "", version: "v1", schema: "io.k8s.api.core.v1.LimitRange", defaults: defaultLimitRange }],

  createOnUpdate: true,
  prepareForCreate: named,

  validate: ({ spec }) => validateLimits(spec?.limits ?? []),

  columns: [nameColumn, createdAtColumn],
});

function defaultLimitRange(limitRange: LimitRange): LimitRange {
  const spec = changed(limitRange.spec, (value) => withChanges(value, { limits: listOrAbsent(changedItems(value.limits, defaultItem)) }));
  return withChanges(limitRange, { spec });
}

/** Without a name a uid is used. */
function named(limitRange: LimitRange): LimitRange {
  const { metadata } = limitRange;
  return metadata.name === "" ? { ...limitRange, metadata: { ...metadata, name: metadata.uid ?? "" } } : limitRange;
}

function defaultItem(item: LimitRangeItem): LimitRangeItem {
  const { max, min, default: limit, defaultRequest, maxLimitRequestRatio } = item.type === "Container" ? withContainerDefaults(item) : item;
  return withChanges(item, {
    max: changed(max, roundedList),
    min: changed(min, roundedList),
    default: changed(limit, roundedList),
    defaultRequest: changed(defaultRequest, roundedList),
    maxLimitRequestRatio: changed(maxLimitRequestRatio, roundedList),
  });
}

/** The default limit is the maximum; the default request is the default limit, or else the minimum. */
function withContainerDefaults(item: LimitRangeItem): LimitRangeItem {
  const limit = filled(item.default, item.max);
  return withChanges(item, { default: limit, defaultRequest: filled(filled(item.defaultRequest, limit), item.min) });
}

function filled(list: ResourceList | undefined, source: ResourceList | undefined): ResourceList | undefined {
  return source === undefined ? list : filledFrom(list, source);
}
