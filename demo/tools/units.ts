/** The units that can be converted, with the factors that define them. */

type Quantity =
  | 'length'
  | 'mass'
  | 'temperature'
  | 'volume'
  | 'area'
  | 'speed'
  | 'time'
  | 'data'
  | 'pressure'
  | 'energy';

/** A unit: `(value - zero) * factor` is the value in the base unit of its quantity, the one with the factor 1. */
export interface Unit {
  readonly quantity: Quantity;
  readonly name: string;
  readonly plural: string;
  readonly factor: number;
  readonly zero: number;
  /** Symbols and other names. */
  readonly aliases: readonly string[];
}

/** Name (and plural, where it is not the name with an "s"), factor, aliases, zero point. */
type Row = readonly [names: string, factor: number, aliases: string, zero?: number];

const inch = 0.0254;
const pound = 0.45359237;
const usGallon = 231 * inch ** 3;
const ukGallon = 4.54609e-3;
const standardGravity = 9.80665;
const day = 86_400;
/** Of the Gregorian calendar: 400 years have 146,097 days. */
const year = 365.2425 * day;

const rows: Readonly<Record<Quantity, readonly Row[]>> = {
  length: [
    ['meter', 1, 'm'],
    ['kilometer', 1e3, 'km'],
    ['centimeter', 1e-2, 'cm'],
    ['millimeter', 1e-3, 'mm'],
    ['micrometer', 1e-6, 'um,micron,microns'],
    ['nanometer', 1e-9, 'nm'],
    ['inch|inches', inch, 'in,"'],
    ['foot|feet', 0.3048, "ft,'"],
    ['yard', 0.9144, 'yd'],
    ['mile', 1609.344, 'mi'],
    ['nautical mile', 1852, 'nmi,NM'],
    ['fathom', 1.8288, 'ftm'],
    ['astronomical unit', 149_597_870_700, 'au,AU'],
    ['light-year', 9_460_730_472_580_800, 'ly,light year,light years,lightyear,lightyears'],
  ],
  mass: [
    ['kilogram', 1, 'kg,kilo,kilos,kilogramme,kilogrammes'],
    ['gram', 1e-3, 'g,gramme,grammes'],
    ['milligram', 1e-6, 'mg'],
    ['microgram', 1e-9, 'ug,mcg'],
    ['tonne', 1e3, 't,metric ton,metric tons,ton,tons'],
    ['pound', pound, 'lb,lbs'],
    ['ounce', pound / 16, 'oz'],
    ['stone|stone', pound * 14, 'st,stones'],
    ['short ton', pound * 2000, 'US ton,US tons,ton,tons'],
    ['long ton', pound * 2240, 'imperial ton,imperial tons,ton,tons'],
    ['carat', 2e-4, 'ct'],
  ],
  temperature: [
    ['degree Celsius|degrees Celsius', 1, 'C,celsius,centigrade,degC,deg C,degree C,degrees C'],
    ['degree Fahrenheit|degrees Fahrenheit', 5 / 9, 'F,fahrenheit,degF,deg F,degree F,degrees F', 32],
    ['kelvin|kelvins', 1, 'K', 273.15],
    ['degree Rankine|degrees Rankine', 5 / 9, 'R,rankine,degR,Ra', 491.67],
  ],
  volume: [
    ['cubic meter', 1, 'm3'],
    ['liter', 1e-3, 'l,L'],
    ['milliliter', 1e-6, 'ml,mL,cc'],
    ['centiliter', 1e-5, 'cl,cL'],
    ['deciliter', 1e-4, 'dl,dL'],
    ['cubic centimeter', 1e-6, 'cm3'],
    ['cubic foot|cubic feet', 0.3048 ** 3, 'ft3'],
    ['cubic inch|cubic inches', inch ** 3, 'in3'],
    ['US gallon', usGallon, 'gal,gallon,gallons'],
    ['US quart', usGallon / 4, 'qt,quart,quarts'],
    ['US pint', usGallon / 8, 'pt,pint,pints'],
    ['US cup', usGallon / 16, 'cup,cups'],
    ['US fluid ounce', usGallon / 128, 'fl oz,floz,fluid ounce,fluid ounces'],
    ['US tablespoon', usGallon / 256, 'tbsp,tablespoon,tablespoons'],
    ['US teaspoon', usGallon / 768, 'tsp,teaspoon,teaspoons'],
    ['imperial gallon', ukGallon, 'imp gal,UK gallon,UK gallons'],
    ['imperial pint', ukGallon / 8, 'imp pt,UK pint,UK pints'],
    ['imperial fluid ounce', ukGallon / 160, 'imp fl oz,UK fluid ounce,UK fluid ounces'],
    ['barrel of oil|barrels of oil', usGallon * 42, 'bbl,barrel,barrels'],
  ],
  area: [
    ['square meter', 1, 'm2'],
    ['square kilometer', 1e6, 'km2'],
    ['square centimeter', 1e-4, 'cm2'],
    ['square millimeter', 1e-6, 'mm2'],
    ['hectare', 1e4, 'ha'],
    ['are', 100, ''],
    ['acre', 4840 * 0.9144 ** 2, 'ac'],
    ['square inch|square inches', inch ** 2, 'in2'],
    ['square foot|square feet', 0.3048 ** 2, 'ft2'],
    ['square yard', 0.9144 ** 2, 'yd2'],
    ['square mile', 1609.344 ** 2, 'mi2'],
  ],
  speed: [
    ['meter per second|meters per second', 1, 'm/s,mps'],
    ['kilometer per hour|kilometers per hour', 1 / 3.6, 'km/h,kmh,kph'],
    ['mile per hour|miles per hour', 0.44704, 'mph,mi/h'],
    ['knot', 1852 / 3600, 'kn,kt,kts'],
    ['foot per second|feet per second', 0.3048, 'ft/s,fps'],
  ],
  time: [
    ['second', 1, 's,sec,secs'],
    ['millisecond', 1e-3, 'ms'],
    ['microsecond', 1e-6, 'us'],
    ['nanosecond', 1e-9, 'ns'],
    ['minute', 60, 'min,mins'],
    ['hour', 3600, 'h,hr,hrs'],
    ['day', day, 'd'],
    ['week', 7 * day, 'wk,wks'],
    ['month', year / 12, 'mo'],
    ['year', year, 'yr,yrs,y'],
    ['century|centuries', year * 100, ''],
  ],
  data: [
    ['bit', 1, 'b'],
    ['kilobit', 1e3, 'kb,kbit'],
    ['megabit', 1e6, 'Mb,Mbit'],
    ['gigabit', 1e9, 'Gb,Gbit'],
    ['terabit', 1e12, 'Tb,Tbit'],
    ['byte', 8, 'B'],
    ['kilobyte', 8e3, 'kB,KB'],
    ['megabyte', 8e6, 'MB'],
    ['gigabyte', 8e9, 'GB'],
    ['terabyte', 8e12, 'TB'],
    ['petabyte', 8e15, 'PB'],
    ['kibibyte', 8 * 2 ** 10, 'KiB'],
    ['mebibyte', 8 * 2 ** 20, 'MiB'],
    ['gibibyte', 8 * 2 ** 30, 'GiB'],
    ['tebibyte', 8 * 2 ** 40, 'TiB'],
    ['pebibyte', 8 * 2 ** 50, 'PiB'],
  ],
  pressure: [
    ['pascal', 1, 'Pa'],
    ['hectopascal', 100, 'hPa'],
    ['kilopascal', 1e3, 'kPa'],
    ['megapascal', 1e6, 'MPa'],
    ['bar', 1e5, ''],
    ['millibar', 100, 'mbar'],
    ['atmosphere', 101_325, 'atm'],
    ['torr|torr', 101_325 / 760, 'Torr'],
    ['millimeter of mercury|millimeters of mercury', 133.322387415, 'mmHg'],
    ['pound per square inch|pounds per square inch', (pound * standardGravity) / inch ** 2, 'psi,lbf/in2'],
  ],
  energy: [
    ['joule', 1, 'J'],
    ['kilojoule', 1e3, 'kJ'],
    ['megajoule', 1e6, 'MJ'],
    ['watt-hour', 3600, 'Wh,watt hour,watt hours'],
    ['kilowatt-hour', 3.6e6, 'kWh,kilowatt hour,kilowatt hours'],
    ['megawatt-hour', 3.6e9, 'MWh,megawatt hour,megawatt hours'],
    ['calorie', 4.184, 'cal'],
    ['kilocalorie', 4184, 'kcal,Cal,food calorie,food calories'],
    ['British thermal unit', 1055.05585262, 'BTU,Btu'],
    ['electronvolt', 1.602176634e-19, 'eV,electron volt,electron volts'],
  ],
};

export const units: readonly Unit[] = Object.entries(rows).flatMap(([quantity, ofQuantity]) =>
  ofQuantity.map((row) => toUnit(quantity as Quantity, row)) // safe: a key of `rows`
);

function toUnit(quantity: Quantity, [names, factor, aliases, zero = 0]: Row): Unit {
  const [name = '', plural = `${name}s`] = names.split('|');
  return { quantity, name, plural, factor, zero, aliases: aliases.split(',').filter((alias) => alias !== '') };
}
