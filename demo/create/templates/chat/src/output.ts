/** The form of answers that are data. */
export const weatherReport = {
  name: 'weather_report',
  schema: {
    type: 'object',
    properties: { city: { type: 'string' }, degrees: { type: 'number' } },
    required: ['city', 'degrees'],
  },
};
