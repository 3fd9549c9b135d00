// What is asked of the rows, as chips that can be removed, and the forms that add to it.

import { useState } from 'preact/hooks';
import * as actions from '../model/actions.js';
import * as state from '../model/state.js';
import { Menu } from './menu.jsx';

/** @typedef {import('../types.js').FilterTuple} FilterTuple */

const operators = /** @type {const} */ (['=', '!=', '<', '<=', '>', '>=', 'IN', 'NOT IN', 'IS NULL', 'IS NOT NULL']);
const unary = (/** @type {string} */ operator) => operator.startsWith('IS');

export function FilterChips() {
  return (
    <>
      {state.filters.value.map((filter, index) => (
        <button
          key={`${index} ${filter.join(' ')}`}
          type="button"
          class="chip"
          title="Remove this filter"
          aria-label={`Remove the filter ${words(filter)}`}
          onClick={() => actions.removeFilter(index)}
        >
          {words(filter)} <span aria-hidden="true">×</span>
        </button>
      ))}
      <Menu id="add-filter" label="Add filter" title="Add a filter ( / )">
        {(close) => <FilterForm done={close} />}
      </Menu>
    </>
  );
}

/** @param {FilterTuple} filter */
function words([field, operator, value]) {
  if (value === undefined) return `${field} ${operator}`;
  const kind = state.allColumns.value.find(({ name }) => name === field)?.kind;
  return `${field} ${operator} ${kind === 'number' || kind === 'boolean' ? value : operator.endsWith('IN') ? `(${value})` : `'${value}'`}`;
}

/** @param {{ done: () => void }} props */
function FilterForm({ done }) {
  const columns = state.allColumns.value;
  const first = state.table.value?.columns[0]?.name ?? '';
  const [field, setField] = useState(first);
  const [operator, setOperator] = useState(/** @type {string} */ ('='));
  const [value, setValue] = useState('');
  const column = columns.find(({ name }) => name === field);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    // The form offers only what a filter may be; the types tell them apart by operator.
    actions.addFilter(/** @type {FilterTuple} */ (/** @type {unknown} */ (unary(operator) ? [field, operator] : [field, operator, value])));
    done();
  };
  return (
    <form class="filter-form" onSubmit={submit}>
      <label>
        Column
        <select name="field" value={field} onChange={(event) => setField(event.currentTarget.value)}>
          <optgroup label="Columns">
            {state.table.value?.columns.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </optgroup>
          <optgroup label="Meta fields">
            {state.table.value?.metaColumns.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </optgroup>
        </select>
      </label>
      <label>
        Is
        <select name="operator" value={operator} onChange={(event) => setOperator(event.currentTarget.value)}>
          {operators.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      {!unary(operator) && (
        <label>
          Value
          <input
            name="value"
            class="mono"
            value={value}
            placeholder={operator.endsWith('IN') ? 'one, two, three' : column?.type}
            onInput={(event) => setValue(event.currentTarget.value)}
            autocomplete="off"
          />
        </label>
      )}
      <button type="submit" class="button primary">
        Add
      </button>
    </form>
  );
}

export function ColumnMenu() {
  const all = state.allColumns.value;
  const shown = state.gridColumns.value;
  const toggle = (/** @type {string} */ name) => {
    const next = shown.includes(name) ? shown.filter((one) => one !== name) : [...shown, name];
    if (next.length > 0) state.chosenColumns.value = next;
  };
  return (
    <Menu label={`${shown.length} of ${all.length} columns`} title="Choose the columns that are read and shown">
      {() => (
        <div class="column-menu">
          {all.map(({ name, type }) => (
            <label key={name}>
              <input
                type="checkbox"
                checked={shown.includes(name)}
                disabled={shown.length === 1 && shown.includes(name)}
                onChange={() => toggle(name)}
              />
              <span>{name}</span> <span class="dim">{type}</span>
            </label>
          ))}
          <p class="buttons">
            <button
              type="button"
              class="link"
              onClick={() => {
                state.chosenColumns.value = undefined;
              }}
            >
              Without meta fields
            </button>
            <button
              type="button"
              class="link"
              onClick={() => {
                state.chosenColumns.value = all.map(({ name }) => name);
              }}
            >
              All
            </button>
          </p>
        </div>
      )}
    </Menu>
  );
}
