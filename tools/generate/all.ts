/**
 * Generators of files under src/, in this order: later ones read the output of earlier ones. One more is its file here and one line in
 * this list. Git ignores their output.
 */
import { apiTypes } from "./api-types.ts";
import { dashboardPage } from "./dashboard-page.ts";
import { descriptions } from "./descriptions.ts";
import type { Generator } from "./generator.ts";
import { kindsEntry } from "./kinds-entry.ts";
import { lessons } from "./lessons.ts";
import { schemaData } from "./schema-data.ts";
import { version } from "./version.ts";

export const all: readonly Generator[] = [version, schemaData, descriptions, apiTypes, kindsEntry, dashboardPage, lessons];
