/** Entry of the page. */
import { h, render } from "preact";
import { rootElement } from "../../dashboard/web/page/root-element.ts";
import { tabBrowser } from "./page/tab-browser.ts";
import { TabApp } from "./tab-app.ts";

const page = tabBrowser();
page.dashboard.theme.show();
render(h(TabApp, { page }), rootElement());
