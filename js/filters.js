import { invalid } from './errors.js';

/**
 * @typedef {import('./index.d.ts').Filter} FilterShape
 * @typedef {import('./index.d.ts').FilterOperator} Operator
 * @typedef {import('./index.d.ts').FilterValue} Value
 */

/** Each operator with its opposite and how many values it takes: one, some or none. @type {Record<Operator, { not: Operator, takes: 'one' | 'some' | 'none' }>} */
const operators = {
  '=': { not: '!=', takes: 'one' },
  '!=': { not: '=', takes: 'one' },
  '<': { not: '>=', takes: 'one' },
  '<=': { not: '>', takes: 'one' },
  '>': { not: '<=', takes: 'one' },
  '>=': { not: '<', takes: 'one' },
  IN: { not: 'NOT IN', takes: 'some' },
  'NOT IN': { not: 'IN', takes: 'some' },
  'IS NULL': { not: 'IS NOT NULL', takes: 'none' },
  'IS NOT NULL': { not: 'IS NULL', takes: 'none' },
};

/** One condition on one column, as text that the engine casts to the column's type. @implements {FilterShape} */
class Filter {
  /**
   * @param {string} field
   * @param {Operator} operator
   * @param {readonly string[]} values
   */
  constructor(field, operator, values) {
    this.field = field;
    this.operator = operator;
    this.values = Object.freeze([...values]);
    Object.freeze(this);
  }

  /** The opposite condition; a null still matches neither. */
  negate() {
    return new Filter(this.field, operators[this.operator].not, this.values);
  }
}

/**
 * Reads filters in any of their forms, and refuses at once what no table could take.
 *
 * @type {typeof import('./index.d.ts').parseFilters}
 */
export function parseFilters(filters) {
  if (!Array.isArray(filters)) throw invalid('filters must be a list of [field, operator, value]');
  return filters.map((filter) => (Array.isArray(filter) ? fromTuple(filter) : fromObject(filter)));
}

/** Builds filters by method calls. @type {typeof import('./index.d.ts').col} */
export function col(name) {
  const field = fieldName(name);
  const one = (/** @type {Operator} */ operator) => (/** @type {Value} */ value) => new Filter(field, operator, [text(field, value)]);
  const some = (/** @type {Operator} */ operator) => (/** @type {readonly Value[]} */ values) =>
    new Filter(field, operator, counted(field, operator, list(field, values)));
  return {
    eq: one('='),
    ne: one('!='),
    lt: one('<'),
    lte: one('<='),
    gt: one('>'),
    gte: one('>='),
    inList: some('IN'),
    notInList: some('NOT IN'),
    isNull: () => new Filter(field, 'IS NULL', []),
    isNotNull: () => new Filter(field, 'IS NOT NULL', []),
  };
}

function fromTuple(/** @type {readonly unknown[]} */ [name, word, value, ...rest]) {
  const field = fieldName(name);
  const operator = operatorOf(field, word);
  if (rest.length > 0) throw invalid('a filter is [field, operator, value]', { context: { field } });
  return new Filter(field, operator, counted(field, operator, valuesOf(field, operator, value)));
}

function fromObject(/** @type {unknown} */ given) {
  if (typeof given !== 'object' || given === null) throw invalid('a filter is [field, operator, value] or made by col()');
  const { field: name, operator: word, values } = /** @type {Partial<FilterShape>} */ (given);
  const field = fieldName(name);
  const operator = operatorOf(field, word);
  return new Filter(field, operator, counted(field, operator, list(field, values ?? [])));
}

function valuesOf(/** @type {string} */ field, /** @type {Operator} */ operator, /** @type {unknown} */ value) {
  const { takes } = operators[operator];
  if (value === undefined) return [];
  if (takes === 'some' && typeof value === 'string') return split(value);
  return Array.isArray(value) ? list(field, value) : [text(field, value)];
}

function counted(/** @type {string} */ field, /** @type {Operator} */ operator, /** @type {string[]} */ values) {
  const { takes } = operators[operator];
  const right = takes === 'none' ? values.length === 0 : takes === 'one' ? values.length === 1 : values.length > 0;
  if (right) return values;
  const wanted = { none: 'no value', one: 'one value', some: 'at least one value' }[takes];
  throw invalid(`${operator} takes ${wanted}, not ${values.length}`, { context: { field } });
}

function fieldName(/** @type {unknown} */ name) {
  if (typeof name === 'string' && name !== '') return name;
  throw invalid('a filter names its column by a string that is not empty');
}

/** @returns {Operator} */
function operatorOf(/** @type {string} */ field, /** @type {unknown} */ word) {
  const operator = typeof word === 'string' ? word.trim().replace(/\s+/g, ' ').toUpperCase() : '';
  if (Object.hasOwn(operators, operator)) return /** @type {Operator} */ (operator);
  throw invalid(`unknown filter operator ${JSON.stringify(word)}`, { context: { field } });
}

function list(/** @type {string} */ field, /** @type {unknown} */ values) {
  if (!Array.isArray(values)) throw invalid('the values of a filter are a list', { context: { field } });
  return values.map((value) => text(field, value));
}

/** Splits on commas and trims; `\,` is a comma and `\\` a backslash inside a value. */
function split(/** @type {string} */ given) {
  if (given.trim() === '') return [];
  const values = [''];
  for (const [piece] of given.matchAll(/\\[\\,]|[^]/gu)) {
    if (piece === ',') values.push('');
    else values[values.length - 1] += piece.length > 1 && piece.startsWith('\\') ? piece.slice(1) : piece;
  }
  return values.map((value) => value.trim());
}

/** A value as the text that the engine reads. */
function text(/** @type {string} */ field, /** @type {unknown} */ value) {
  switch (typeof value) {
    case 'string':
      return value;
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'number':
      // String() gives 1e+21 and loses the sign of zero.
      return Object.is(value, -0) ? '-0.0' : Number.isInteger(value) ? BigInt(value).toString() : String(value);
  }
  if (value instanceof Date) return dateText(value, { field });
  throw invalid('a filter value is a string, number, bigint, boolean or Date', {
    context: { field },
    hint: 'For null use IS NULL or IS NOT NULL.',
  });
}

/**
 * A Date as RFC 3339 text in UTC, the form in which every Date reaches the engine.
 *
 * @param {Date} date
 * @param {Record<string, string>} context
 */
export function dateText(date, context) {
  const year = date.getUTCFullYear();
  if (year >= 0 && year <= 9999) return date.toISOString();
  throw invalid(Number.isNaN(year) ? 'an invalid Date' : 'a Date whose year has not four digits', { context });
}
