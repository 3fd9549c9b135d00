// The page's entry: samples known, keys heard, questions followed, then drawn.

import { h, render } from 'preact';
import { Page } from './page.jsx';
import { follow, start } from './model/actions.js';
import { listen } from './model/keys.js';
import { samples } from './model/state.js';

async function main() {
  const answer = await fetch('tables/index.json').catch(() => undefined);
  if (answer?.ok) samples.value = await answer.json();
  const root = document.getElementById('page');
  if (!root) return;
  follow();
  listen();
  start();
  render(h(Page, null), root);
}

void main();
