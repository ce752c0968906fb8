/** `customFieldValues` in the detail of a device: each field with its value and where that comes from. */
import { defineContribution } from '#core';
import { readMany } from '../services/readings.ts';

export default defineContribution('devices.detail', { key: 'customFieldValues', readMany });
